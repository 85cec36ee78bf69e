#define _GNU_SOURCE
#include "CFileKit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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

static int flags_for(enum filekit_use use) {
    switch (use) {
    case FILEKIT_LOOK: return O_PATH | O_CLOEXEC;
    case FILEKIT_READ: return O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    case FILEKIT_LIST: return O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    case FILEKIT_APPEND: return O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    }
    return O_PATH | O_CLOEXEC;
}

int filekit_open_beneath(int folder, const void *path, enum filekit_use use, bool follows_links) {
    struct open_how how = {.flags = (unsigned long long)flags_for(use)};
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
    if (!follows_links) {
        how.flags |= O_NOFOLLOW;
        how.resolve |= RESOLVE_NO_SYMLINKS;
    }
    long opened;
    do opened = syscall(SYS_openat2, folder, path, &how, sizeof how);
    while (opened < 0 && errno == EINTR);
    return opened < 0 ? -errno : (int)opened;
}

int filekit_open_regular(int folder, const void *path) {
    struct stat status;
    if (fstatat(folder, path, &status, AT_SYMLINK_NOFOLLOW) != 0) return -errno;
    if (!S_ISREG(status.st_mode)) return -ENXIO;
    return filekit_open_beneath(folder, path, FILEKIT_READ, false);
}

int filekit_open_entry(int folder, const void *name, enum filekit_use use) {
    int opened;
    do opened = openat(folder, name, flags_for(use) | O_NOFOLLOW);
    while (opened < 0 && errno == EINTR);
    return opened < 0 ? -errno : opened;
}

ssize_t filekit_read_link(int folder, const void *name, void *target, size_t size) {
    ssize_t length = readlinkat(folder, name, target, size);
    return length < 0 ? -errno : length;
}
