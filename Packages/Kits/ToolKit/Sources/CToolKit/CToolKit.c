#define _GNU_SOURCE
#include "CToolKit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const void *toolkit_place(const void *text, size_t length, const void *wanted, size_t wantedLength) {
    return memmem(text, length, wanted, wantedLength);
}

int toolkit_make_file(int folder, const void *name, mode_t mode) {
    int opened;
    do opened = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    while (opened < 0 && errno == EINTR);
    return opened < 0 ? -errno : opened;
}

// Network file systems do not support the flags. A link is created under the new name only if the name is free. An
// exchange takes three steps, with a name that nothing else uses.
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
