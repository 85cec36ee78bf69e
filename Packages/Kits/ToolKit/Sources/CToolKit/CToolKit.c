#define _GNU_SOURCE
#include "CToolKit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
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
