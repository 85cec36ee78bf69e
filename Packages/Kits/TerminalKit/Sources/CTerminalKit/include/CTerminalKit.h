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
/// belongs to another job is not changed. Returns 0 or an errno; EBUSY if a terminal is already taken.
int martlet_terminal_enter(int fd, int wake_fd, int input);

/// How many typed bytes were not read yet.
int martlet_terminal_pending(int fd);

/// Stops the job like Ctrl-Z. It may return before or after the job continues.
void martlet_terminal_suspend(void);

/// Restores the terminal and the signal actions. `fd` and `wake_fd` are not used afterwards.
void martlet_terminal_leave(void);

/// Restores the terminal if it is taken. Async-signal-safe, and may be called at any time and any number of times.
void martlet_terminal_restore(void);

/// Opens libcmark-gfm with its extensions, and returns null, or why it cannot be used. Only one thread may call it at a
/// time, and nobody any function of the library before it has returned null.
const char *martlet_markdown_open(void);

/// Creates a pipe whose ends do not block and are not inherited. Returns 0 or an errno.
int martlet_wake_pipe(int *read_end, int *write_end);
