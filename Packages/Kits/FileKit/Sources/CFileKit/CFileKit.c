#define _GNU_SOURCE
#include "CFileKit.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/xattr.h>
#include <unistd.h>

char **filekit_environ(void) {
    return environ;
}

int filekit_openat(int directory, const char *path, int flags, unsigned int mode) {
    return openat(directory, path, flags, (mode_t)mode);
}

int filekit_rename_new(const char *path, const char *name) {
    return renameat2(AT_FDCWD, path, AT_FDCWD, name, RENAME_NOREPLACE);
}

static const char access_list[] = "system.posix_acl_access";

long filekit_access_list(const char *path, void *bytes, size_t size) {
    return lgetxattr(path, access_list, bytes, size);
}

int filekit_set_access_list(int descriptor, const void *bytes, size_t count) {
    return fsetxattr(descriptor, access_list, bytes, count, 0);
}
