#include "CTerminalKit.h"
#include "guardian.h"
#include "screen.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

enum { idle, changing, taken };

static _Atomic int state = idle;
// The number of restores running on other threads. Leaving waits for them, because the caller then closes the
// descriptors.
static _Atomic int restoring = 0;
// Whether the process ends, as far as is known, so that the terminal is not taken again.
static _Atomic bool is_over = false;
// Whether it ends for certain: by `exit`, or by a signal that nobody else handles. Unlike a restore that somebody asked
// for, this has no end, and nothing takes the terminal any more.
static _Atomic bool is_ending = false;
// The number of threads that are taking the terminal.
static _Atomic int taking = 0;
static int terminal_fd, wake_fd;
static struct termios saved, raw;
static bool wants_marks, is_silent, is_screen;
// Whether pastes are marked, which must be turned off exactly once.
static _Atomic bool marks_pastes = false;
static const char mark_pastes[] = "\033[?2004h", stop_marking[] = "\033[?2004l";

static const int guarded[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGSEGV, SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGABRT};
#define GUARDED_COUNT (sizeof guarded / sizeof *guarded)
static struct sigaction previous[GUARDED_COUNT], previous_resize, previous_stop, previous_continue;

// The state of a stop (SIGTSTP): none, running on a thread, or over while the terminal still belongs to another job.
enum { runs, stops, waits_for_terminal };
static _Atomic int stop_state = runs;
// Whether another program of this job has the terminal for a while.
static _Atomic bool is_lent = false;

// In the background the terminal belongs to the shell or another job, with its modes.
static bool is_ours(void) { return martlet_terminal_is_ours(terminal_fd); }

// Begins to take the terminal from the state in which it is given back; false if it must stay there. The end of it has
// to follow in any case. Handlers of this thread do not run in between, because the end of a process waits for this.
static bool begin_taking(sigset_t *before) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, before);
    atomic_fetch_add(&taking, 1);
    return !atomic_load(&is_over) && !atomic_load(&is_ending);
}

static void end_taking(const sigset_t *before) {
    atomic_fetch_sub(&taking, 1);
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

static void put_back(void) {
    if (!is_ours()) return;
    // The terminal may go to another job in the meantime; then SIGTTOU would stop this process.
    sigset_t block, before;
    sigemptyset(&block);
    sigaddset(&block, SIGTTOU);
    pthread_sigmask(SIG_BLOCK, &block, &before);
    if (is_screen) martlet_screen_hide(terminal_fd);
    if (atomic_exchange(&marks_pastes, false)) {
        // A single attempt: the end of a process must not wait for a stopped terminal.
        ssize_t ignored = write(terminal_fd, stop_marking, sizeof stop_marking - 1);
        (void)ignored;
    }
    while (tcsetattr(terminal_fd, TCSANOW, &saved) != 0 && errno == EINTR) {}
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

// `is_end` says that this process will not read the typed input.
static void restore(bool is_end) {
    int error = errno;
    atomic_fetch_add(&restoring, 1);
    if (is_end) {
        atomic_store(&is_over, true);
        // Another thread may have begun before. It does not wait for anything.
        for (int patience = 200; atomic_load(&taking) != 0 && patience > 0; patience--) poll(NULL, 0, 1);
    }
    if (atomic_load(&state) == taken) {
        put_back();
        // Input for this program must not become a command of the shell.
        if (is_end && is_silent && is_ours()) tcflush(terminal_fd, TCIFLUSH);
        // Its parent reaps it, rather than nobody in a container.
        if (is_end && is_screen) martlet_guardian_end();
        // A full pipe has already woken the reader.
        ssize_t ignored = write(wake_fd, "", 1);
        (void)ignored;
    }
    atomic_fetch_sub(&restoring, 1);
    errno = error;
}

void martlet_terminal_restore(void) { restore(true); }

static void restore_for_good(void) {
    // Before the restore, which waits for who is taking the terminal and did not see this.
    atomic_store(&is_ending, true);
    restore(true);
}

static void on_signal(int signal) {
    int error = errno;
    for (size_t i = 0; i < GUARDED_COUNT; i++) {
        if (guarded[i] != signal) continue;
        // A process that handles the signal continues and reads the input typed ahead.
        if (previous[i].sa_handler == SIG_DFL) restore_for_good();
        else restore(false);
        sigaction(signal, &previous[i], NULL);
    }
    // The signal is blocked while this handler runs, so the previous action gets it on return.
    raise(signal);
    errno = error;
}

static void chain(const struct sigaction *action, int signal) {
    if (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN) action->sa_handler(signal);
}

static void on_resize(int signal) {
    int error = errno;
    atomic_fetch_add(&restoring, 1);
    if (atomic_load(&state) == taken) {
        ssize_t ignored = write(wake_fd, "\2", 1);
        (void)ignored;
    }
    atomic_fetch_sub(&restoring, 1);
    chain(&previous_resize, signal);
    errno = error;
}

static void mark_pastes_again(void) {
    atomic_store(&marks_pastes, true);
    // If the terminal accepts nothing now, marking was not turned on and must not be turned off.
    if (write(terminal_fd, mark_pastes, sizeof mark_pastes - 1) < 0) atomic_store(&marks_pastes, false);
}

// Whether a shell has set its modes since a full-screen program was stopped by SIGSTOP.
static bool has_lines(void) {
    struct termios now;
    return is_screen && tcgetattr(terminal_fd, &now) == 0 && (now.c_lflag & ICANON);
}

// Takes the terminal again. The shell may have changed its modes in the meantime, if it was restored.
static void take_again(bool was_put_back) {
    // A program that was stopped by SIGSTOP is still on the screen.
    if (is_screen) martlet_screen_hide(terminal_fd);
    sigset_t before;
    if (begin_taking(&before)) {
        if (was_put_back) {
            tcgetattr(terminal_fd, &saved);
            if (is_screen) martlet_guardian_note(terminal_fd, true);
        }
        tcsetattr(terminal_fd, TCSANOW, &raw);
        if (is_screen) {
            martlet_guardian_note(terminal_fd, false);
            martlet_screen_show(terminal_fd);
        }
        if (wants_marks) mark_pastes_again();
        ssize_t ignored = write(wake_fd, "\3", 1);
        (void)ignored;
    }
    end_taking(&before);
}

// Whether a continuation belongs to a stop that takes the terminal again itself. It may be reported to another thread
// during the stop, or to this one after it.
static _Atomic bool expects_continue = false;

// Stops by the action of a signal that is not handled here at the moment. Returns whether a full-screen program was
// stopped, and continued.
static bool stop_by(int signal, const struct sigaction *action) {
    sigset_t unblock, before;
    sigemptyset(&unblock);
    sigaddset(&unblock, signal);
    atomic_store(&expects_continue, true);
    sigaction(signal, action, NULL);
    // The whole job, like the terminal itself: the shell may wait for a program that started this one. All of it at
    // once, so that a continuation finds the whole job stopped.
    if (is_screen) kill(0, signal);
    else raise(signal);
    if (is_screen) sigaddset(&unblock, SIGCONT);
    pthread_sigmask(SIG_UNBLOCK, &unblock, &before);
    // The process is stopped here, until SIGCONT; or a moment later, if the signal has gone to another thread. A job
    // without a shell is not stopped.
    for (int patience = 500; is_screen && atomic_load(&expects_continue) && patience > 0; patience--) poll(NULL, 0, 1);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    // A later continuation does not belong to this stop.
    return !atomic_exchange(&expects_continue, false);
}

// A full-screen program has nothing to do in the background: it stops like one that reads there, until it has the
// terminal. Returns whether it has.
static bool wait_for_terminal(void) {
    struct sigaction by_default = {.sa_handler = SIG_DFL}, before;
    sigaction(SIGTTIN, NULL, &before);
    // Nobody stops a process whose job has no shell. Such a job never gets the terminal either.
    while (!is_ours() && stop_by(SIGTTIN, &by_default)) {}
    sigaction(SIGTTIN, &before, NULL);
    return is_ours();
}

static void on_stop(int signal) {
    int error = errno;
    atomic_fetch_add(&restoring, 1);
    bool is_taken = atomic_load(&state) == taken, was_lent = atomic_load(&is_lent);
    if (is_taken && !was_lent) {
        atomic_store(&stop_state, stops);
        put_back();
    }
    // Not counted while it is stopped, because leaving waits for counted restores.
    atomic_fetch_sub(&restoring, 1);
    struct sigaction own;
    sigaction(signal, NULL, &own);
    stop_by(signal, &previous_stop);
    if (is_taken && !was_lent && is_screen && atomic_load(&state) == taken) wait_for_terminal();
    atomic_fetch_add(&restoring, 1);
    if (is_taken && atomic_load(&state) == taken) {
        sigaction(signal, &own, NULL);
        atomic_store(&stop_state, was_lent ? runs : waits_for_terminal);
        int expected = waits_for_terminal;
        if (is_ours() && atomic_compare_exchange_strong(&stop_state, &expected, runs)) take_again(true);
    }
    atomic_fetch_sub(&restoring, 1);
    errno = error;
}

static void on_continue(int signal) {
    int error = errno;
    // A running stop takes the terminal again itself.
    bool is_expected = is_screen && atomic_exchange(&expects_continue, false);
    if (!is_expected && !atomic_load(&is_lent)) {
        if (is_screen && atomic_load(&state) == taken && atomic_load(&stop_state) != stops) wait_for_terminal();
        atomic_fetch_add(&restoring, 1);
        if (atomic_load(&state) == taken && atomic_load(&stop_state) != stops && is_ours()) {
            int expected = waits_for_terminal;
            // Otherwise it was stopped by SIGSTOP, which cannot be handled, and the shell may have set its own modes.
            take_again(atomic_compare_exchange_strong(&stop_state, &expected, runs) || has_lines());
        }
        atomic_fetch_sub(&restoring, 1);
    }
    chain(&previous_continue, signal);
    errno = error;
}

static pthread_key_t stack_key;
static pthread_once_t stack_once = PTHREAD_ONCE_INIT;
enum { stack_size = 64 * 1024 };

static void free_stack(void *stack) {
    stack_t none = {.ss_flags = SS_DISABLE};
    sigaltstack(&none, NULL);
    munmap(stack, stack_size);
}

static void make_stack_key(void) { pthread_key_create(&stack_key, free_stack); }

// A thread with a full stack cannot run a handler on it.
static void give_signal_stack(void) {
    stack_t now;
    if (sigaltstack(NULL, &now) != 0 || !(now.ss_flags & SS_DISABLE)) return;
    pthread_once(&stack_once, make_stack_key);
    void *memory = mmap(NULL, stack_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    stack_t stack = {.ss_sp = memory, .ss_size = stack_size};
    if (sigaltstack(&stack, NULL) != 0 || pthread_setspecific(stack_key, memory) != 0) free_stack(memory);
}

static void install(bool resizes) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_RESTART};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < GUARDED_COUNT; i++) {
        sigaction(guarded[i], NULL, &previous[i]);
        // Ignored signals, for example by nohup, stay ignored.
        if (previous[i].sa_handler != SIG_IGN) sigaction(guarded[i], &action, NULL);
    }
    sigaction(SIGTSTP, NULL, &previous_stop);
    action.sa_handler = on_stop;
    if (previous_stop.sa_handler != SIG_IGN) sigaction(SIGTSTP, &action, NULL);
    // Handlers with three arguments could not be called with one argument.
    sigaction(SIGCONT, NULL, &previous_continue);
    action.sa_handler = on_continue;
    if (!(previous_continue.sa_flags & SA_SIGINFO)) sigaction(SIGCONT, &action, NULL);
    if (!resizes) return;
    sigaction(SIGWINCH, NULL, &previous_resize);
    action.sa_handler = on_resize;
    if (!(previous_resize.sa_flags & SA_SIGINFO)) sigaction(SIGWINCH, &action, NULL);
}

static void uninstall_one(int signal, void (*handler)(int), const struct sigaction *before) {
    struct sigaction current;
    sigaction(signal, NULL, &current);
    // An action installed in the meantime is not replaced.
    if (current.sa_handler == handler) sigaction(signal, before, NULL);
}

static void uninstall(void) {
    for (size_t i = 0; i < GUARDED_COUNT; i++) uninstall_one(guarded[i], on_signal, &previous[i]);
    uninstall_one(SIGTSTP, on_stop, &previous_stop);
    uninstall_one(SIGCONT, on_continue, &previous_continue);
    uninstall_one(SIGWINCH, on_resize, &previous_resize);
}

// Begins to take the terminal. Returns 0 or an errno.
static int begin(int fd, int wake) {
    int expected = idle;
    if (!atomic_compare_exchange_strong(&state, &expected, changing)) return EBUSY;
    if (atomic_load(&is_ending)) {
        atomic_store(&state, idle);
        return EINTR;
    }
    if (tcgetattr(fd, &saved) != 0) {
        int error = errno;
        atomic_store(&state, idle);
        return error;
    }
    terminal_fd = fd;
    wake_fd = wake;
    static atomic_flag exit_is_guarded = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&exit_is_guarded)) atexit(restore_for_good);
    give_signal_stack();
    raw = saved;
    wants_marks = is_silent = is_screen = false;
    atomic_store(&stop_state, runs);
    atomic_store(&expects_continue, false);
    atomic_store(&is_lent, false);
    atomic_store(&is_over, false);
    return 0;
}

int martlet_terminal_enter(int fd, int wake, int input) {
    int error = begin(fd, wake);
    if (error != 0) return error;
    raw.c_lflag &= ~(tcflag_t)(ECHO | ECHONL | ICANON);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    if (input == martlet_input_silent) {
        // Input typed ahead stays when Ctrl-C stops an answer.
        raw.c_lflag |= (tcflag_t)NOFLSH;
    } else {
        raw.c_lflag &= ~(tcflag_t)(ISIG | IEXTEN);
        raw.c_iflag &= ~(tcflag_t)IXON;
    }
    if (input == martlet_input_keys) raw.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IGNCR);
    wants_marks = input == martlet_input_keys;
    is_silent = input == martlet_input_silent;
    install(input == martlet_input_keys);
    atomic_store(&state, taken);
    if (input == martlet_input_secret) tcflush(fd, TCIFLUSH);
    sigset_t before;
    error = begin_taking(&before) ? (tcsetattr(fd, TCSANOW, &raw) == 0 ? 0 : errno) : EINTR;
    if (error == 0 && wants_marks) mark_pastes_again();
    end_taking(&before);
    if (error != 0) martlet_terminal_leave();
    return error;
}

int martlet_screen_enter(int fd, int wake, int options) {
    int error = begin(fd, wake);
    if (error != 0) return error;
    // Keys come as they are, and output goes as it is.
    cfmakeraw(&raw);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    // Everything that gives the terminal back exists before the first byte is written.
    error = martlet_screen_prepare(options);
    if (error == 0) {
        martlet_guardian_note(fd, true);
        error = martlet_guardian_start(fd);
    }
    if (error != 0) {
        atomic_store(&state, idle);
        return error;
    }
    is_screen = true;
    install(true);
    atomic_store(&state, taken);
    // What was written so far is shown by the modes of then. This may wait for a stopped terminal.
    tcdrain(fd);
    sigset_t before;
    // What was typed so far stays, unlike with TCSAFLUSH.
    error = begin_taking(&before) ? (tcsetattr(fd, TCSANOW, &raw) == 0 ? 0 : errno) : EINTR;
    if (error == 0) {
        martlet_guardian_note(fd, false);
        martlet_screen_show(fd);
    }
    end_taking(&before);
    if (error != 0) martlet_terminal_leave();
    return error;
}

void martlet_screen_lend(void) {
    atomic_store(&is_lent, true);
    put_back();
}

void martlet_screen_stop_lent(void) {
    struct sigaction own;
    sigaction(SIGTSTP, NULL, &own);
    stop_by(SIGTSTP, &previous_stop);
    wait_for_terminal();
    sigaction(SIGTSTP, &own, NULL);
    // What the shell or its user has changed meanwhile is to be restored.
    if (!is_ours() || tcgetattr(terminal_fd, &saved) != 0) return;
    martlet_guardian_note(terminal_fd, true);
}

void martlet_screen_take_back(void) {
    atomic_fetch_add(&restoring, 1);
    atomic_store(&is_lent, false);
    // A program that crashed may have left its own modes, so they are not the ones to restore.
    if (atomic_load(&state) == taken && is_ours()) take_again(false);
    atomic_fetch_sub(&restoring, 1);
}

bool martlet_terminal_is_ours(int fd) {
    // This fails for a terminal that does not control this process, which no other job can own either.
    pid_t foreground = tcgetpgrp(fd);
    return foreground < 0 || foreground == getpgrp();
}

void martlet_terminal_suspend(void) {
    // The whole job, like the terminal itself. The handler of a full-screen program stops the rest of the job when it
    // has left the screen, because then the shell takes the terminal.
    kill(is_screen ? getpid() : 0, SIGTSTP);
}

void martlet_terminal_leave(void) {
    put_back();
    atomic_store(&state, changing);
    while (atomic_load(&restoring) != 0) sched_yield();
    // A handler that saw the taken state may have taken the terminal again after a stop.
    put_back();
    uninstall();
    if (is_screen) martlet_guardian_end();
    is_screen = false;
    atomic_store(&state, idle);
}
