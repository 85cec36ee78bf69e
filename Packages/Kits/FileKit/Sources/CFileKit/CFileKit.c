#define _GNU_SOURCE
#include "CFileKit.h"

#include <fcntl.h>
#include <unistd.h>

char **filekit_environ(void) {
    return environ;
}

int filekit_openat(int directory, const char *path, int flags, unsigned int mode) {
    return openat(directory, path, flags, (mode_t)mode);
}
