#define _GNU_SOURCE
#include "CTerminalKit.h"
#include "screen.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

// Starts a program as the job in the foreground, with the signal actions and the mask of a shell's job.
static int start(int fd, char *const arguments[], char *const environment[], pid_t *child) {
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    int error = posix_spawnattr_init(&attributes);
    if (error != 0) return error;
    error = posix_spawn_file_actions_init(&actions);
    if (error == 0) {
        posix_spawnattr_setpgroup(&attributes, 0);
        posix_spawnattr_setsigdefault(&attributes, &all);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setflags(
            &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
        // In the child, before it can read from a terminal that is not yet its own.
        error = posix_spawn_file_actions_addtcsetpgrp_np(&actions, fd);
        if (error == 0) error = posix_spawnp(child, arguments[0], &actions, &attributes, arguments, environment);
        posix_spawn_file_actions_destroy(&actions);
    }
    posix_spawnattr_destroy(&attributes);
    return error;
}

int martlet_screen_run(int fd, char *const arguments[], char *const environment[], int *status) {
    // The terminal is given away and taken from the background, which stops a job otherwise.
    sigset_t block, before;
    sigemptyset(&block);
    sigaddset(&block, SIGTTOU);
    pthread_sigmask(SIG_BLOCK, &block, &before);
    martlet_screen_lend();
    pid_t child;
    int error = start(fd, arguments, environment, &child);
    int state = 0;
    while (error == 0) {
        if (waitpid(child, &state, WUNTRACED) < 0) {
            if (errno == EINTR) continue;
            error = errno;
        } else if (WIFSTOPPED(state)) {
            // The shell knows this program only, so it stops too, and both go on together.
            martlet_screen_stop_lent();
            tcsetpgrp(fd, child);
            kill(-child, SIGCONT);
        } else {
            break;
        }
    }
    *status = WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
    tcsetpgrp(fd, getpgrp());
    martlet_screen_take_back();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}
