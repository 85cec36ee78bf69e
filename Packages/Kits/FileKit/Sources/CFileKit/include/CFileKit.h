// What Swift cannot reach in glibc: a variadic function, what is behind _GNU_SOURCE, and openat2, which has no wrapper.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

char *_Nullable *_Nullable filekit_environ(void);

int filekit_openat(int directory, const char *_Nonnull path, int flags, unsigned int mode);

// Renames unless something has the new name; -1 and errno when it fails.
int filekit_rename_new(const char *_Nonnull path, const char *_Nonnull name);

// The rights of single users: how many bytes, or -1 and errno.
long filekit_access_list(const char *_Nonnull path, void *_Nonnull bytes, size_t size);
int filekit_set_access_list(int descriptor, const void *_Nonnull bytes, size_t count);

// What a descriptor is wanted for, which decides the flags.
enum filekit_use {
    // To ask what is there; nothing is opened, so that no device notices.
    FILEKIT_LOOK,
    // To read a file; a FIFO or a terminal makes nobody wait.
    FILEKIT_READ,
    // To list a folder.
    FILEKIT_LIST,
    // To add to the end of a file.
    FILEKIT_APPEND,
};

// Resolves a whole path in the kernel, never above the folder. A descriptor, or -errno.
int filekit_open_beneath(int folder, const void *_Nonnull path, enum filekit_use use, bool follows_links);

// Opens one entry of a folder, and never what a link there leads to. A descriptor, or -errno.
int filekit_open_entry(int folder, const void *_Nonnull name, enum filekit_use use);

// The target of a link in a folder; an empty name is the link that the descriptor itself is. A length, or -errno.
ssize_t filekit_read_link(int folder, const void *_Nonnull name, void *_Nonnull target, size_t size);
