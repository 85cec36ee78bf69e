// Functions of glibc that Swift cannot call: a variadic function, functions behind _GNU_SOURCE, and openat2, which has
// no wrapper.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

char *_Nullable *_Nullable filekit_environ(void);

int filekit_openat(int directory, const char *_Nonnull path, int flags, unsigned int mode);

// Renames unless the new name exists. Returns -1 and sets errno on failure.
int filekit_rename_new(const char *_Nonnull path, const char *_Nonnull name);

// Reads the access control list. Returns its size, or -1 and sets errno.
long filekit_access_list(const char *_Nonnull path, void *_Nonnull bytes, size_t size);
int filekit_set_access_list(int descriptor, const void *_Nonnull bytes, size_t count);

// The use of a descriptor, which decides the flags.
enum filekit_use {
    // To inspect an entry. Nothing is opened, so no device reacts.
    FILEKIT_LOOK,
    // To read a file. A FIFO or a terminal does not block.
    FILEKIT_READ,
    // To list a folder.
    FILEKIT_LIST,
    // To append to a file.
    FILEKIT_APPEND,
};

// Resolves a whole path in the kernel, never above the folder. Returns a descriptor or -errno.
int filekit_open_beneath(int folder, const void *_Nonnull path, enum filekit_use use, bool follows_links);

// Opens a regular file for reading if no part of its path is a link. It is looked at before it is opened, because opening
// alone can set off a device. Returns a descriptor or -errno.
int filekit_open_regular(int folder, const void *_Nonnull path);

// Opens one entry of a folder, without following a link. Returns a descriptor or -errno.
int filekit_open_entry(int folder, const void *_Nonnull name, enum filekit_use use);

// The target of a link in a folder. With an empty name, the descriptor itself is the link. Returns a length or -errno.
ssize_t filekit_read_link(int folder, const void *_Nonnull name, void *_Nonnull target, size_t size);
