#include "CTerminalKit.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

enum { idle, changing, taken };

static _Atomic int state = idle;
// Restores that are under way on other threads; leaving waits for them, since the caller closes the descriptors next.
static _Atomic int restoring = 0;
static int terminal_fd, wake_fd;
static struct termios saved;

static const int guarded[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGSEGV, SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGABRT};
#define GUARDED_COUNT (sizeof guarded / sizeof *guarded)
static struct sigaction previous[GUARDED_COUNT];

static void put_back(void) {
    // A process in the background is stopped by SIGTTOU when it sets a terminal, unless it blocks the signal.
    sigset_t block, before;
    sigemptyset(&block);
    sigaddset(&block, SIGTTOU);
    pthread_sigmask(SIG_BLOCK, &block, &before);
    while (tcsetattr(terminal_fd, TCSANOW, &saved) != 0 && errno == EINTR) {}
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void martlet_terminal_restore(void) {
    int error = errno;
    atomic_fetch_add(&restoring, 1);
    if (atomic_load(&state) == taken) {
        put_back();
        // A full pipe has woken the reader already.
        ssize_t ignored = write(wake_fd, "", 1);
        (void)ignored;
    }
    atomic_fetch_sub(&restoring, 1);
    errno = error;
}

static void on_signal(int signal) {
    int error = errno;
    martlet_terminal_restore();
    for (size_t i = 0; i < GUARDED_COUNT; i++)
        if (guarded[i] == signal) sigaction(signal, &previous[i], NULL);
    // Blocked while this handler runs, so that the previous action takes it on return.
    raise(signal);
    errno = error;
}

static void install(void) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_RESTART};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < GUARDED_COUNT; i++) {
        sigaction(guarded[i], NULL, &previous[i]);
        // What the process was told to ignore, as by nohup, stays ignored.
        if (previous[i].sa_handler != SIG_IGN) sigaction(guarded[i], &action, NULL);
    }
}

static void uninstall(void) {
    for (size_t i = 0; i < GUARDED_COUNT; i++) {
        struct sigaction current;
        sigaction(guarded[i], NULL, &current);
        // An action that somebody installed meanwhile is theirs.
        if (current.sa_handler == on_signal) sigaction(guarded[i], &previous[i], NULL);
    }
}

int martlet_terminal_enter(int fd, int wake, bool discard_input) {
    static atomic_flag exit_is_guarded = ATOMIC_FLAG_INIT;
    int expected = idle;
    if (!atomic_compare_exchange_strong(&state, &expected, changing)) return EBUSY;
    if (tcgetattr(fd, &saved) != 0) {
        int error = errno;
        atomic_store(&state, idle);
        return error;
    }
    terminal_fd = fd;
    wake_fd = wake;
    if (!atomic_flag_test_and_set(&exit_is_guarded)) atexit(martlet_terminal_restore);
    install();
    atomic_store(&state, taken);
    struct termios raw = saved;
    raw.c_lflag &= ~(tcflag_t)(ECHO | ECHONL | ICANON | ISIG | IEXTEN);
    raw.c_iflag &= ~(tcflag_t)IXON;
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    if (discard_input) tcflush(fd, TCIFLUSH);
    if (tcsetattr(fd, TCSANOW, &raw) == 0) return 0;
    int error = errno;
    martlet_terminal_leave();
    return error;
}

void martlet_terminal_leave(void) {
    put_back();
    atomic_store(&state, changing);
    while (atomic_load(&restoring) != 0) sched_yield();
    uninstall();
    atomic_store(&state, idle);
}
