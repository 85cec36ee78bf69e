#define _GNU_SOURCE
#include "CProcessKit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

// Signal handlers belong to the whole process, and so does this state.
static atomic_flag in_use = ATOMIC_FLAG_INIT;
static _Atomic int write_end = -1;
static int read_end = -1;
static _Atomic int interrupts;
static void (*_Atomic restore_hook)(void);
static struct sigaction previous[NSIG];
static bool caught[NSIG];

// Runs on any thread at any moment: only async-signal-safe calls.
static void handle(int number) {
    int saved = errno;
    // Both come from a user at a terminal; the second one ends the process.
    if ((number == SIGINT || number == SIGQUIT) && atomic_fetch_add(&interrupts, 1) > 0) {
        void (*restore)(void) = restore_hook;
        if (restore) restore();
        _exit(number == SIGINT ? 130 : 143);
    }
    unsigned char byte = (unsigned char)number;
    // A full pipe already holds plenty of signals to read.
    (void)!write(write_end, &byte, 1);
    errno = saved;
}

static void end(int number) {
    _exit(number == SIGINT ? 130 : 143);
}

void processkit_signals_end(int number) {
    struct sigaction action = {.sa_handler = end};
    struct sigaction inherited;
    sigfillset(&action.sa_mask);
    // Only signals that would end the process; signals that the parent ignores stay ignored.
    if (sigaction(number, NULL, &inherited) == 0 && inherited.sa_handler == SIG_DFL) sigaction(number, &action, NULL);
}

int processkit_signals_open(void) {
    if (atomic_flag_test_and_set(&in_use)) return -EBUSY;
    if (read_end < 0) {
        // Created once and never closed, because a handler may be about to write on another thread.
        int ends[2];
        if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
            int failure = errno;
            atomic_flag_clear(&in_use);
            return -failure;
        }
        read_end = ends[0];
        write_end = ends[1];
    }
    char stale[64];
    while (read(read_end, stale, sizeof stale) > 0) {}
    interrupts = 0;
    return read_end;
}

int processkit_signals_catch(int number) {
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    struct sigaction inherited;
    sigfillset(&action.sa_mask);
    // Signals that the parent ignores, as with nohup, stay ignored.
    if (sigaction(number, NULL, &inherited) == 0 && inherited.sa_handler == SIG_IGN) return 0;
    if (sigaction(number, &action, caught[number] ? 0 : &previous[number]) != 0) return -errno;
    caught[number] = true;
    return 0;
}

void processkit_signals_close(void) {
    for (int number = 1; number < NSIG; number++) {
        if (!caught[number]) continue;
        sigaction(number, &previous[number], 0);
        caught[number] = false;
    }
    restore_hook = 0;
    atomic_flag_clear(&in_use);
}

void processkit_signals_acknowledge(void) {
    interrupts = 0;
}

void processkit_signals_set_restore(void (*restore)(void)) {
    restore_hook = restore;
}

void processkit_settle_signals(void) {
    struct sigaction current;
    if (sigaction(SIGPIPE, 0, &current) == 0 && current.sa_handler == SIG_DFL) signal(SIGPIPE, SIG_IGN);
    // Exceeding the file size limit is an error of that write, and does not end the process.
    if (sigaction(SIGXFSZ, 0, &current) == 0 && current.sa_handler == SIG_DFL) signal(SIGXFSZ, SIG_IGN);
    // The parent may have set SIGCHLD to be ignored. Then the kernel would reap children before their exit status is
    // read.
    if (sigaction(SIGCHLD, 0, &current) == 0 && (current.sa_handler == SIG_IGN || current.sa_flags & SA_NOCLDWAIT))
        signal(SIGCHLD, SIG_DFL);
}
