// What Swift cannot reach in glibc: a variadic function and a global behind _GNU_SOURCE.
#pragma once

char *_Nullable *_Nullable filekit_environ(void);

int filekit_openat(int directory, const char *_Nonnull path, int flags, unsigned int mode);
