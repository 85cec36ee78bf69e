#define _GNU_SOURCE
#include "CSandboxKit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Each level keeps a descriptor open.
enum { DEEPEST = 200 };

static int remove_contents(int folder, int depth);

static int remove_entry(int folder, const char *name, int depth) {
    if (unlinkat(folder, name, 0) == 0 || errno == ENOENT) return 0;
    if (errno != EISDIR) return -errno;
    if (unlinkat(folder, name, AT_REMOVEDIR) == 0) return 0;
    if (depth >= DEEPEST) return -ELOOP;
    // Some programs create folders that they cannot write to later.
    (void)fchmodat(folder, name, 0700, 0);
    int inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inner < 0) return -errno;
    int failure = remove_contents(inner, depth + 1);
    close(inner);
    return failure ? failure : unlinkat(folder, name, AT_REMOVEDIR) == 0 ? 0 : -errno;
}

static int remove_contents(int folder, int depth) {
    // A separate descriptor, because the caller owns the given one.
    int listed = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (listed < 0) return -errno;
    DIR *entries = fdopendir(listed);
    if (!entries) {
        int failure = errno;
        close(listed);
        return -failure;
    }
    int failure = 0;
    for (struct dirent *entry; (entry = readdir(entries));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        // Removes as much as possible, even if some entries fail.
        int own = remove_entry(folder, entry->d_name, depth);
        if (own) failure = own;
    }
    closedir(entries);
    return failure;
}

int sandboxkit_remove_contents(int folder) {
    (void)fchmod(folder, 0700);
    return remove_contents(folder, 0);
}
