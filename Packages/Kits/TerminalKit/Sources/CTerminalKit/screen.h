#pragma once

// Makes the sequences for the options. Returns 0 or an errno.
int martlet_screen_prepare(int options);

// Writes the enter sequence, as far as the terminal takes it; frames wait for the rest. Async-signal-safe.
void martlet_screen_show(int fd);

// Writes the leave sequence if the screen is shown: once, however often it is called. What the terminal does not take
// in a moment is left to the guardian. Async-signal-safe.
void martlet_screen_hide(int fd);

// Leaves the screen for another program of this process, which then owns the terminal.
void martlet_screen_lend(void);

// Stops the job while the terminal is lent, until it has the terminal again.
void martlet_screen_stop_lent(void);

// Shows the screen again.
void martlet_screen_take_back(void);
