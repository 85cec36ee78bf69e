#include "CTerminalKit.h"
#include "guardian.h"
#include "screen.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static struct guardian *shared;
static char enter[160];
static unsigned enter_length;
// Where the leave sequence begins if the program has shown no progress, and if it has synchronised no frame either.
static unsigned without_progress, unsynchronised;
// How much of the enter sequence was written.
static _Atomic unsigned entered = 0;
// Counts how often the screen was shown. A frame belongs to one of them, because it changes what that one shows.
static _Atomic unsigned turn = 0;
// The number of threads that write a frame.
static _Atomic int writing = 0;
static _Atomic bool fence_is_open = false;

int martlet_screen_prepare(int options) {
    shared = martlet_guardian_memory();
    if (!shared) return errno;
    martlet_guardian_abandon();
    bool has_mouse = options & martlet_screen_mouse, has_title = options & martlet_screen_title;
    // The keyboard's stack belongs to a screen, so it is pushed on the alternate one, and popped before leaving that.
    strcpy(enter, has_title ? "\033[22;0t" : "");
    strcat(enter, "\033[?1049h\033[H\033[2J\033[?7l\033[>1u\033[?2004h\033[?1004h");
    if (has_mouse) strcat(enter, "\033[?1000h\033[?1002h\033[?1006h");
    strcat(enter, "\033[?25l");
    enter_length = (unsigned)strlen(enter);
    // CAN and ST end a sequence of which the terminal got only the beginning.
#define END_SEQUENCE "\030\033\\"
#define END_MOUSE "\033[?1006l\033[?1002l\033[?1000l"
    char *leave = shared->leave;
    strcpy(leave, END_SEQUENCE "\033]9;4;0\033\\");
    without_progress = (unsigned)strlen(leave);
    strcat(leave, END_SEQUENCE "\033[?2026l");
    unsynchronised = (unsigned)strlen(leave);
    strcat(leave, END_SEQUENCE);
    if (has_mouse) strcat(leave, END_MOUSE);
    strcat(leave, "\033[?1004l\033[?2004l\033[?2031l\033[<u\033[>4m");
    strcat(leave, "\033[?7h\033[r\033[m\033]8;;\033\\\033[0 q\033[?1049l");
    // Some terminals restore modes with the screen.
    if (has_mouse) strcat(leave, END_MOUSE);
    strcat(leave, "\033[?25h");
    if (has_title) strcat(leave, "\033[23;0t");
    shared->length = (unsigned)strlen(leave);
    memset(&shared->raw, 0, sizeof shared->raw);
    atomic_store(&shared->state, screen_off);
    atomic_store(&fence_is_open, false);
    return 0;
}

// Handlers of this thread do not run between these two: they would wait for what it is doing.
static sigset_t block_signals(void) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    return before;
}

static void unblock_signals(sigset_t before) { pthread_sigmask(SIG_SETMASK, &before, NULL); }

static void nap(void) { poll(NULL, 0, 1); }

static bool finish_entering(int fd) {
    unsigned done = atomic_load(&entered);
    if (done < enter_length) {
        ssize_t count = write(fd, enter + done, enter_length - done);
        if (count > 0) atomic_store(&entered, done += (unsigned)count);
    }
    return done == enter_length;
}

void martlet_screen_show(int fd) {
    sigset_t before = block_signals();
    atomic_store(&entered, 0);
    atomic_store(&shared->written, unsynchronised);
    atomic_fetch_add(&turn, 1);
    // Before the state says so, because a thread that leaves the screen from then on waits for this.
    atomic_fetch_add(&writing, 1);
    atomic_store(&shared->state, screen_on);
    finish_entering(fd);
    atomic_fetch_sub(&writing, 1);
    unblock_signals(before);
}

static long milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// Waits for the answer to the last query (DA1) and discards it, or it would be typed into the shell.
static void await_fence(int fd) {
    if (!atomic_exchange(&fence_is_open, false)) return;
    static const char start[] = "\033[?";
    unsigned matched = 0;
    long end = milliseconds() + martlet_screen_fence_patience;
    for (long left; (left = end - milliseconds()) > 0;) {
        struct pollfd typed = {.fd = fd, .events = POLLIN};
        if (poll(&typed, 1, (int)left) <= 0) continue;
        char byte;
        ssize_t count = read(fd, &byte, 1);
        if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) return;
        // Another thread may have read it.
        if (count < 0) nap();
        else if (matched < 3) matched = byte == start[matched] ? matched + 1 : byte == '\033';
        else if (byte == 'c') return;
        else if (byte != ';' && (byte < '0' || byte > '9')) matched = byte == '\033';
    }
}

// Writes what is missing of the leave sequence. Returns the state after that.
static int write_leave(int fd) {
    long end = milliseconds() + martlet_screen_leave_patience;
    while (atomic_load(&shared->written) < shared->length) {
        unsigned done = atomic_load(&shared->written);
        ssize_t count = write(fd, shared->leave + done, shared->length - done);
        if (count >= 0) {
            atomic_fetch_add(&shared->written, (unsigned)count);
            continue;
        }
        // Otherwise the terminal is gone.
        if (errno != EAGAIN && errno != EINTR) return screen_off;
        long left = end - milliseconds();
        // The end of a process does not wait for a stopped terminal. The guardian does.
        if (left <= 0) return screen_unfinished;
        struct pollfd room = {.fd = fd, .events = POLLOUT};
        poll(&room, 1, (int)left);
    }
    return screen_off;
}

void martlet_screen_hide(int fd) {
    sigset_t before = block_signals();
    int shown = screen_on, unfinished = screen_unfinished;
    if (atomic_compare_exchange_strong(&shared->state, &shown, screen_leaving)) {
        // The threads that write a frame do not wait for anything.
        for (int patience = 200; atomic_load(&writing) != 0 && patience > 0; patience--) nap();
        await_fence(fd);
        atomic_store(&shared->state, write_leave(fd));
    } else if (atomic_compare_exchange_strong(&shared->state, &unfinished, screen_leaving)) {
        atomic_store(&shared->state, write_leave(fd));
    } else {
        // Another thread is leaving, and the process must not end before it has.
        for (int patience = 500; atomic_load(&shared->state) == screen_leaving && patience > 0; patience--) nap();
    }
    unblock_signals(before);
}

// MARK: Frames

unsigned martlet_screen_turn(void) { return atomic_load(&turn); }

void martlet_screen_fence(bool is_open) { atomic_store(&fence_is_open, is_open); }

// Begins to write to the screen. The end of it has to follow in any case.
static bool begin_writing(int fd, unsigned of_turn, sigset_t *before) {
    *before = block_signals();
    atomic_fetch_add(&writing, 1);
    return of_turn == atomic_load(&turn) && atomic_load(&shared->state) == screen_on && martlet_terminal_is_ours(fd);
}

static void end_writing(sigset_t before) {
    atomic_fetch_sub(&writing, 1);
    unblock_signals(before);
}

long martlet_screen_write(int fd, unsigned of_turn, const void *bytes, unsigned long count, int kind) {
    sigset_t before;
    long result = -ESTALE;
    if (begin_writing(fd, of_turn, &before)) {
        if (!finish_entering(fd)) {
            result = -EAGAIN;
        } else {
            // Before the first byte of it, because the process may end at any time.
            unsigned start = kind == martlet_frame_progress ? 0
                : kind == martlet_frame_update ? without_progress : unsynchronised;
            if (atomic_load(&shared->written) > start) atomic_store(&shared->written, start);
            result = write(fd, bytes, count);
            if (result < 0) result = -errno;
        }
    }
    end_writing(before);
    return result;
}

bool martlet_screen_discard(int fd, unsigned of_turn) {
    sigset_t before;
    bool may_discard = begin_writing(fd, of_turn, &before) && atomic_load(&entered) == enter_length;
    if (may_discard) tcflush(fd, TCOFLUSH);
    end_writing(before);
    return may_discard;
}
