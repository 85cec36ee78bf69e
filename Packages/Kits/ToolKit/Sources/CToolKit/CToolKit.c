#define _GNU_SOURCE
#include "CToolKit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static int flags_for(enum toolkit_purpose purpose) {
    switch (purpose) {
    case TOOLKIT_LOOK: return O_PATH | O_CLOEXEC;
    case TOOLKIT_READ: return O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    case TOOLKIT_LIST: return O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    }
    return O_PATH | O_CLOEXEC;
}

int toolkit_open_beneath(int folder, const void *path, enum toolkit_purpose purpose, bool follows_links) {
    struct open_how how = {.flags = (unsigned long long)flags_for(purpose)};
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

int toolkit_open_entry(int folder, const void *name, enum toolkit_purpose purpose) {
    int opened;
    do opened = openat(folder, name, flags_for(purpose) | O_NOFOLLOW);
    while (opened < 0 && errno == EINTR);
    return opened < 0 ? -errno : opened;
}

ssize_t toolkit_read_link(int folder, const void *name, void *target, size_t size) {
    ssize_t length = readlinkat(folder, name, target, size);
    return length < 0 ? -errno : length;
}

int toolkit_make_file(int folder, const void *name, mode_t mode) {
    int opened;
    do opened = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    while (opened < 0 && errno == EINTR);
    return opened < 0 ? -errno : opened;
}

// Network file systems know no flags. A link is made under the new name only where there is none, and an exchange
// takes three steps by way of a name that nobody else uses.
static int rename_in_steps(int folder, const char *from, const char *to, enum toolkit_renaming renaming) {
    if (renaming == TOOLKIT_KEEP) {
        if (linkat(folder, from, folder, to, 0) != 0) return -errno;
        return unlinkat(folder, from, 0) == 0 ? 0 : -errno;
    }
    char aside[64];
    if (snprintf(aside, sizeof aside, "%s.old", from) >= (int)sizeof aside) return -ENAMETOOLONG;
    if (linkat(folder, to, folder, aside, 0) != 0) return -errno;
    int failure = renameat(folder, from, folder, to) == 0 ? 0 : -errno;
    if (!failure && renameat(folder, aside, folder, from) == 0) return 0;
    if (!failure) failure = -errno;
    unlinkat(folder, aside, 0);
    return failure;
}

int toolkit_rename(int folder, const void *from, const void *to, enum toolkit_renaming renaming) {
    unsigned flags = renaming == TOOLKIT_KEEP ? RENAME_NOREPLACE : RENAME_EXCHANGE;
    if (renameat2(folder, from, folder, to, flags) == 0) return 0;
    if (errno == EINVAL || errno == ENOSYS) return rename_in_steps(folder, from, to, renaming);
    return -errno;
}
