#define _GNU_SOURCE
#include "CSandboxKit.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

int sandboxkit_memory(const void *bytes, size_t count) {
    int memory = memfd_create("sandbox", MFD_CLOEXEC);
    if (memory < 0) return -errno;
    // Writes at an offset, so that a reader begins at the start.
    for (size_t written = 0; written < count;) {
        ssize_t more = pwrite(memory, (const char *)bytes + written, count - written, (off_t)written);
        if (more < 0 && errno == EINTR) continue;
        if (more <= 0) {
            int failure = more < 0 ? errno : EIO;
            close(memory);
            return -failure;
        }
        written += (size_t)more;
    }
    return memory;
}
