// What Swift cannot do itself: renameat2 and memmem, which are behind _GNU_SOURCE, and looking at sixteen bytes at a time.
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/// Makes a file that is not there yet, to be written. A descriptor, or -errno.
int toolkit_make_file(int folder, const void *_Nonnull name, mode_t mode);

/// What becomes of an entry that has the new name already.
enum toolkit_renaming {
    /// It stays, and the call fails with EEXIST.
    TOOLKIT_KEEP,
    /// It gets the other name.
    TOOLKIT_EXCHANGE,
};

/// Renames an entry of a folder in one step, on file systems that can do no better by a way that is not as sure: what
/// should be exchanged may be lost there if somebody else replaces it at the same moment. 0, or -errno.
int toolkit_rename(
    int folder, const void *_Nonnull from, const void *_Nonnull to, enum toolkit_renaming renaming);

/// Where one text stands in another, in a time that grows with both together and never with one times the other; NULL
/// where it does not.
const void *_Nullable toolkit_place(
    const void *_Nonnull text, size_t length, const void *_Nonnull wanted, size_t wantedLength);

/// A text to be looked for. Each byte of the searched ones is joined with that of the mask before they are compared: 0x20
/// makes capital letters small.
struct toolkit_text {
    const unsigned char *_Nonnull bytes;
    const unsigned char *_Nonnull masks;
    size_t length;
    /// Where two bytes are in it that are rare, by which places are found that are worth a look.
    size_t first;
    size_t second;
};

/// Where the text stands first; -1 where it is not there.
ssize_t toolkit_find(const struct toolkit_text *_Nonnull text, const void *_Nonnull bytes, size_t count);

/// Whether all bytes are below 128.
bool toolkit_is_ascii(const void *_Nonnull bytes, size_t count);

/// Where the first of so many bytes begin, at least one, that follow one another and have a 1 in the table; or -1.
ssize_t toolkit_find_run(
    const unsigned char *_Nonnull members, size_t length, const void *_Nonnull bytes, size_t count);
