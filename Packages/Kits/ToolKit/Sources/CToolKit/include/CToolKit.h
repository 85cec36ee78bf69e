// Opening what lies beneath an open folder: openat2 has no wrapper in glibc, and O_PATH is behind _GNU_SOURCE.
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/// What a descriptor is wanted for, which decides the flags.
enum toolkit_purpose {
    /// To ask what is there; nothing is opened, so that no device notices.
    TOOLKIT_LOOK,
    /// To read a file; a FIFO or a terminal makes nobody wait.
    TOOLKIT_READ,
    /// To list a folder.
    TOOLKIT_LIST,
};

/// Resolves a whole path in the kernel, never above the folder. A descriptor, or -errno.
int toolkit_open_beneath(int folder, const void *_Nonnull path, enum toolkit_purpose purpose, bool follows_links);

/// Opens one entry of a folder, and never what a link there leads to. A descriptor, or -errno.
int toolkit_open_entry(int folder, const void *_Nonnull name, enum toolkit_purpose purpose);

/// The target of a link in a folder; an empty name is the link that the descriptor itself is. A length, or -errno.
ssize_t toolkit_read_link(int folder, const void *_Nonnull name, void *_Nonnull target, size_t size);
