#define _GNU_SOURCE
#include "CTerminalKit.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int martlet_wake_pipe(int *read_end, int *write_end) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return errno;
    *read_end = ends[0];
    *write_end = ends[1];
    return 0;
}
