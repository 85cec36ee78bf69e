// Opens a file beneath an open folder, enforced by the kernel, and reads it; prints the nanoseconds of one round.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int main(int count, char **words) {
    if (count != 4) return 2;
    int folder = open(words[1], O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return 1;
    long rounds = atol(words[3]);
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (long round = 0; round < rounds; round++) {
        char bytes[64];
        struct stat status;
        int file = (int)syscall(SYS_openat2, folder, words[2], &how, sizeof how);
        if (file < 0 || fstat(file, &status) != 0 || read(file, bytes, sizeof bytes) < 0) return 1;
        close(file);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%.0f\n", ((double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec)) / (double)rounds);
    return 0;
}
