// Functions that Swift does not have: renameat2 and memmem, which need _GNU_SOURCE, and comparing sixteen bytes at
// once.
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/// Creates a file that does not exist yet, for writing. Returns a descriptor, or -errno.
int toolkit_make_file(int folder, const void *_Nonnull name, mode_t mode);

/// What happens to an existing entry with the new name.
enum toolkit_renaming {
    /// It stays, and the call fails with EEXIST.
    TOOLKIT_KEEP,
    /// It gets the old name.
    TOOLKIT_EXCHANGE,
};

/// Renames an entry of a folder in one step. File systems that do not support this use a less safe way: there, an
/// exchange may lose a file that another program replaces at the same moment. Returns 0, or -errno.
int toolkit_rename(
    int folder, const void *_Nonnull from, const void *_Nonnull to, enum toolkit_renaming renaming);

/// Finds one text in another, in time that grows with the sum of their lengths and not with the product; NULL if it
/// does not occur.
const void *_Nullable toolkit_place(
    const void *_Nonnull text, size_t length, const void *_Nonnull wanted, size_t wantedLength);

/// A text to search for. Each searched byte is combined with the mask by OR before comparing: 0x20 makes upper-case
/// letters lower-case.
struct toolkit_text {
    const unsigned char *_Nonnull bytes;
    const unsigned char *_Nonnull masks;
    size_t length;
    /// The indexes of two rare bytes in it, which are compared first.
    size_t first;
    size_t second;
};

/// The first place of the text; -1 if it does not occur.
ssize_t toolkit_find(const struct toolkit_text *_Nonnull text, const void *_Nonnull bytes, size_t count);

/// Whether all bytes are below 128.
bool toolkit_is_ascii(const void *_Nonnull bytes, size_t count);

/// The beginning of the first run of at least this many bytes with a 1 in the table; or -1.
ssize_t toolkit_find_run(
    const unsigned char *_Nonnull members, size_t length, const void *_Nonnull bytes, size_t count);
