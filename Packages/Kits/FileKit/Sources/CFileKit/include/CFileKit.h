// What Swift cannot reach in glibc: a variadic function, and what is behind _GNU_SOURCE.
#pragma once

#include <stddef.h>

char *_Nullable *_Nullable filekit_environ(void);

int filekit_openat(int directory, const char *_Nonnull path, int flags, unsigned int mode);

// Renames unless something has the new name; -1 and errno when it fails.
int filekit_rename_new(const char *_Nonnull path, const char *_Nonnull name);

// The rights of single users: how many bytes, or -1 and errno.
long filekit_access_list(const char *_Nonnull path, void *_Nonnull bytes, size_t size);
int filekit_set_access_list(int descriptor, const void *_Nonnull bytes, size_t count);
