#pragma once

#include <stdbool.h>

/// Reads the size of the terminal of `fd`; false if the kernel does not know it.
bool martlet_terminal_size(int fd, int *columns, int *rows);

enum {
    /// One line, whose end may be typed as CR or LF.
    martlet_input_line,
    /// The same, and input typed ahead is discarded.
    martlet_input_secret,
    /// Raw keys: CR and LF differ, pastes are marked, and a change of the size writes 2 to `wake_fd`.
    martlet_input_keys,
    /// Raw keys, except that CR becomes LF and signal keys work. Typed input is not shown, and not lost.
    martlet_input_silent
};

/// Takes the terminal of `fd` out of echo, line and signal-key mode as `input` requires, and guards it: until
/// `martlet_terminal_leave`, an end by signal, crash or `exit` restores it first, and so does a stop (SIGTSTP), after
/// which it is taken again. A restore in between writes 0 to `wake_fd`, and a continuation 3. A terminal whose foreground
/// belongs to another job is not changed. Returns 0 or an errno; EBUSY if a terminal is already taken, EINTR if the process
/// is ending.
int martlet_terminal_enter(int fd, int wake_fd, int input);

enum { martlet_screen_mouse = 1, martlet_screen_title = 2 };

enum {
    /// How many milliseconds a leave waits for the answer to a query.
    martlet_screen_fence_patience = 200,
    /// How many it waits for a terminal that takes no output.
    martlet_screen_leave_patience = 100
};

/// Takes the terminal of `fd`, which does not block, for a full-screen program: raw keys, the alternate screen, marked
/// pastes, focus reports and, if `options` say so, the mouse, and the title of the window restored at the end. It is
/// guarded as by `martlet_terminal_enter`, and by a separate process in case this one is killed. In the background the
/// process stops. After each continuation everything has to be drawn again. Returns 0 or an errno.
int martlet_screen_enter(int fd, int wake_fd, int options);

/// The number of the current showing of the screen. A frame that was made for another one is not written.
unsigned martlet_screen_turn(void);

enum {
    martlet_frame_plain,
    /// A synchronised update, which leaving the screen ends.
    martlet_frame_update,
    /// Progress in the tab or the task bar, which leaving the screen ends.
    martlet_frame_progress
};

/// Writes what the terminal takes without waiting. Returns how much, or a negative errno: `EAGAIN` if it takes nothing
/// now, `ESTALE` if the screen is not shown, or was shown again since `turn`. `kind` says what leaving this showing of the
/// screen has to end. Signals do not interrupt it.
long martlet_screen_write(int fd, unsigned turn, const void *bytes, unsigned long count, int kind);

/// Discards what was written and did not reach the terminal. What the terminal's side holds already stays: a few KB.
/// Returns whether the screen is shown, as for a write.
bool martlet_screen_discard(int fd, unsigned turn);

/// Says whether a query is open, whose last answer is a DA1 report. Leaving by a signal waits for it.
void martlet_screen_fence(bool is_open);

/// Leaves the screen, runs a program in the foreground until it ends, and shows the screen again. If the program stops,
/// this process stops with it. `status` is the exit status as a shell says it. Returns 0, or the errno for which the
/// program could not be started.
int martlet_screen_run(int fd, char *const arguments[], char *const environment[], int *status);

/// Whether the terminal belongs to this job, or does not control this process.
bool martlet_terminal_is_ours(int fd);

/// How many typed bytes were not read yet.
int martlet_terminal_pending(int fd);

/// Stops the job like Ctrl-Z. It may return before or after the job continues.
void martlet_terminal_suspend(void);

/// Restores the terminal and the signal actions. `fd` and `wake_fd` are not used afterwards.
void martlet_terminal_leave(void);

/// Restores the terminal if it is taken. Async-signal-safe, and may be called at any time and any number of times.
void martlet_terminal_restore(void);

/// Opens libcmark-gfm with its extensions, and returns null, or why it cannot be used. Only one thread may call it at a
/// time, and no function of the library may be called before it has returned null.
const char *martlet_markdown_open(void);

/// Creates a pipe whose ends do not block and are not inherited. Returns 0 or an errno.
int martlet_wake_pipe(int *read_end, int *write_end);
