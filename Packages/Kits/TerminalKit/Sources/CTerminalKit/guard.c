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
// Whether pastes are marked, which has to be switched off exactly once.
static _Atomic bool marks_pastes = false;
static const char mark_pastes[] = "\033[?2004h", stop_marking[] = "\033[?2004l";

static const int guarded[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGSEGV, SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGABRT};
#define GUARDED_COUNT (sizeof guarded / sizeof *guarded)
static struct sigaction previous[GUARDED_COUNT], previous_resize;

static void put_back(void) {
    // A process in the background is stopped by SIGTTOU when it sets a terminal, unless it blocks the signal.
    sigset_t block, before;
    sigemptyset(&block);
    sigaddset(&block, SIGTTOU);
    pthread_sigmask(SIG_BLOCK, &block, &before);
    if (atomic_exchange(&marks_pastes, false)) {
        // Tried once: the end of a process must not wait for a stopped terminal.
        ssize_t ignored = write(terminal_fd, stop_marking, sizeof stop_marking - 1);
        (void)ignored;
    }
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

static void on_resize(int signal) {
    int error = errno;
    atomic_fetch_add(&restoring, 1);
    if (atomic_load(&state) == taken) {
        ssize_t ignored = write(wake_fd, "\2", 1);
        (void)ignored;
    }
    atomic_fetch_sub(&restoring, 1);
    if (previous_resize.sa_handler != SIG_DFL && previous_resize.sa_handler != SIG_IGN) previous_resize.sa_handler(signal);
    errno = error;
}

static void install(bool resizes) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_RESTART};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < GUARDED_COUNT; i++) {
        sigaction(guarded[i], NULL, &previous[i]);
        // What the process was told to ignore, as by nohup, stays ignored.
        if (previous[i].sa_handler != SIG_IGN) sigaction(guarded[i], &action, NULL);
    }
    if (!resizes) return;
    sigaction(SIGWINCH, NULL, &previous_resize);
    action.sa_handler = on_resize;
    // One with three arguments could not be called with one.
    if (!(previous_resize.sa_flags & SA_SIGINFO)) sigaction(SIGWINCH, &action, NULL);
}

static void uninstall(void) {
    for (size_t i = 0; i < GUARDED_COUNT; i++) {
        struct sigaction current;
        sigaction(guarded[i], NULL, &current);
        // An action that somebody installed meanwhile is theirs.
        if (current.sa_handler == on_signal) sigaction(guarded[i], &previous[i], NULL);
    }
    struct sigaction current;
    sigaction(SIGWINCH, NULL, &current);
    if (current.sa_handler == on_resize) sigaction(SIGWINCH, &previous_resize, NULL);
}

int martlet_terminal_enter(int fd, int wake, int input) {
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
    install(input == martlet_input_keys);
    atomic_store(&state, taken);
    struct termios raw = saved;
    raw.c_lflag &= ~(tcflag_t)(ECHO | ECHONL);
    if (input != martlet_input_silent) {
        raw.c_lflag &= ~(tcflag_t)(ICANON | ISIG | IEXTEN);
        raw.c_iflag &= ~(tcflag_t)IXON;
        raw.c_cc[VMIN] = 1;
        raw.c_cc[VTIME] = 0;
    }
    if (input == martlet_input_keys) raw.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IGNCR);
    if (input == martlet_input_secret) tcflush(fd, TCIFLUSH);
    if (tcsetattr(fd, TCSANOW, &raw) == 0) {
        if (input == martlet_input_keys) {
            atomic_store(&marks_pastes, true);
            // A terminal that takes nothing now gets no marks, and needs none to be taken back.
            if (write(fd, mark_pastes, sizeof mark_pastes - 1) < 0) atomic_store(&marks_pastes, false);
        }
        return 0;
    }
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
