// Functions that Swift cannot provide: code in a child before it becomes a program, pidfd (behind _GNU_SOURCE), and
// signal handlers.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// The target of a standard descriptor in the child, if it is not a descriptor to copy. PROCESSKIT_OUTPUT sends messages
// to the same place as results.
enum { PROCESSKIT_INHERIT = -1, PROCESSKIT_NULL = -2, PROCESSKIT_OUTPUT = -3 };

// Restrictions that the kernel enforces permanently on a child and everything that it starts.
struct processkit_restriction {
    int ruleset; // of Landlock
    const void *_Nonnull filter; // instructions for seccomp
    size_t filter_count;
};

// The stage at which a child could not be started.
enum processkit_stage { PROCESSKIT_STARTING, PROCESSKIT_RESTRICTING };

struct processkit_spawn {
    const char *_Nonnull path;
    char *_Nullable const *_Nonnull arguments;
    char *_Nullable const *_Nonnull environment;
    const char *_Nullable directory;
    int standard[3];
    int watched; // the child's group is killed when this descriptor ends; negative for none
    const int *_Nullable passed; // become descriptors 4 and so on of the child
    int passed_count;
    bool session; // whether the child's group is a session too, without a terminal
    bool no_core; // whether the child and its descendants leave no core dumps
    bool no_groups; // whether an administrator's supplementary groups are dropped
    unsigned long most_tasks; // limit of the user's processes and threads; 0 for no limit
    unsigned long most_data; // limit of each process's private memory in bytes; 0 for no limit
    bool supervised; // whether all descendants end with the child, and when `watched` ends
    const struct processkit_restriction *_Nullable restriction;
    int terminal; // made the child's before it runs; -1 for none
};

// Each function returns 0, a descriptor or a count, or a negative errno on failure.

// If the program was started but could not be watched, it is killed and `process` is its number; on any other failure
// `process` is -1. For a supervised program `process` is the supervisor, which ends as the program does and forwards
// signals.
int processkit_spawn(
    const struct processkit_spawn *_Nonnull request, int *_Nonnull process, int *_Nonnull pidfd,
    enum processkit_stage *_Nonnull stage);
int processkit_pipe(int *_Nonnull read_end, int *_Nonnull write_end);

struct processkit_state {
    int code;   // CLD_EXITED, CLD_KILLED, CLD_DUMPED or CLD_STOPPED; 0 while it runs
    int status; // exit code or signal
};
int processkit_wait(int pidfd, int flags, struct processkit_state *_Nonnull state);

// For processes that are not children.
int processkit_pidfd_open(int process);
int processkit_pidfd_signal(int pidfd, int number);

// Lets the signal end the process with an exit code until the signal is caught.
void processkit_signals_end(int number);
int processkit_signals_open(void);
int processkit_signals_catch(int number);
void processkit_signals_close(void);
void processkit_signals_acknowledge(void);
void processkit_signals_set_restore(void (*_Nullable restore)(void));
// Ignores SIGPIPE and SIGXFSZ, and does not ignore SIGCHLD.
void processkit_settle_signals(void);

// Keeps the memory of this process from core dumps and from other processes of the same user.
void processkit_hide_memory(void);
