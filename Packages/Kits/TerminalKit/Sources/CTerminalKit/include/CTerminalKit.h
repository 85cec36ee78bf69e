#pragma once

#include <stdbool.h>

/// Reads the size of the terminal behind `fd`; false when the kernel does not know it.
bool martlet_terminal_size(int fd, int *columns, int *rows);

enum {
    /// One line, whose end may be typed as CR or LF.
    martlet_input_line,
    /// The same, and what was typed ahead is dropped.
    martlet_input_secret,
    /// Keys as they are: CR and LF differ, pastes are marked, and a change of the size writes 2 to `wake_fd`.
    martlet_input_keys,
    /// Keys as they are but for CR, which is LF, and signal keys; nothing that is typed is shown, and none of it lost.
    martlet_input_silent
};

/// Takes the terminal behind `fd` out of echo, line and signal-key mode as `input` wants, and guards it: until
/// `martlet_terminal_leave`, an ending by signal, crash or `exit` puts it back first, and so does a stop (SIGTSTP), after
/// which it is taken again. A restore in between writes 0 to `wake_fd`, and a continuation 3. Nothing is done to a
/// terminal that another job has in the foreground. Returns 0 or an errno; EBUSY when one terminal is taken already.
int martlet_terminal_enter(int fd, int wake_fd, int input);

/// How many bytes were typed and not read.
int martlet_terminal_pending(int fd);

/// Stops the job as the terminal does it for Ctrl-Z; returns at any time before or after it was continued.
void martlet_terminal_suspend(void);

/// Puts the terminal and the signal actions back; `fd` and `wake_fd` are not used after it returned.
void martlet_terminal_leave(void);

/// Puts the terminal back if it is taken. Async-signal-safe, and may be called at any time and any number of times.
void martlet_terminal_restore(void);

/// Makes a pipe whose ends do not block and are not inherited; returns 0 or an errno.
int martlet_wake_pipe(int *read_end, int *write_end);
