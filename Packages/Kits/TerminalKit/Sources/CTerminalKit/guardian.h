#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

// `unfinished`: the terminal has not taken all of the leave sequence, and nobody is writing it.
enum { screen_off, screen_on, screen_leaving, screen_unfinished };

// The modes of a terminal as the kernel has them. The structure of the C library is larger.
struct modes {
    unsigned input, output, control, local;
    unsigned char discipline, characters[19];
};

// What a program shares with its guardian, a small process that leaves the screen for it if it is killed. It is a
// mapping of its own, which is never unmapped, because a signal handler may use it at any time.
struct guardian {
    // The thread that sets `leaving` writes the leave sequence. The guardian writes what is missing of it at the end.
    _Atomic int state;
    _Atomic unsigned written;
    unsigned length;
    char leave[256];
    struct modes saved, raw;

    // The rest is for the guardian.
    int terminal, pipe, write_end;
    // Whether the terminal controls the program. Otherwise no other job can own it.
    bool has_jobs;
    pid_t group, parent, session;
    void *rseq;
    unsigned rseq_length, rseq_signature;
    char root[2], name[16];
    _Alignas(16) char stack[4096];
};

// The memory to share, or null; errno then says why.
struct guardian *martlet_guardian_memory(void);

// Ends the last guardian if it still waits for a stopped terminal. It must not see what is prepared for the next screen.
void martlet_guardian_abandon(void);

// Starts the guardian of the terminal of `fd`. Returns 0 or an errno.
int martlet_guardian_start(int fd);

// Notes the current modes, before (`saved`) or after the program changed them. Async-signal-safe.
void martlet_guardian_note(int fd, bool is_saved);

// Ends the guardian, which first writes what is missing of the leave sequence, and waits for it unless the terminal
// takes no output. Async-signal-safe.
void martlet_guardian_end(void);
