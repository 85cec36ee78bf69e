#define _GNU_SOURCE
#include "guardian.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#endif

// A killed program can restore nothing. The kernel closes its end of a pipe, and the guardian, a child of it that waits
// for that, restores the modes and leaves the screen.
//
// Why it is safe to write to a terminal that others may own by then:
// - The pipe ends while the program is still being taken down, before its parent can learn that it has ended. So
//   the guardian usually acts before a shell takes the terminal back, and looks at the owner each time.
// - It writes the leave sequence only if the terminal still belongs to the job of the program, or to the shell that
//   waited for it, and which shows nothing but a prompt. If another job owns the terminal, it is not touched.
// - It restores the modes only if the job still owns the terminal and the modes are still those of the program. A shell
//   that has taken the terminal restores them itself, and then sets its own. The program changes the modes before it
//   shows the screen, so they are restored without a screen too.
// - The program says in shared memory whether it is on the screen. While it is stopped, or has lent the terminal, the
//   screen is off and another job owns the terminal.
//
// The guardian starts as a copy of a program with many threads and much memory, of which the copies would stay as the
// program changes its own. So it unmaps everything but two places: the memory that it shares, with its stack, and its
// code. It has no C library after that, and makes only direct system calls. All signals are blocked in it, so that none
// that ends the job, the terminal's SIGTTOU included, ends or stops it; it has its own process group and no signal at
// its end, so that neither the shell nor the program's other waits for children know it. It stays in the session,
// because only there may it ask for the owner of the terminal.

static struct guardian *shared;
// Only one thread starts it, but the process may end on another one meanwhile.
static _Atomic pid_t process = -1;
static _Atomic int write_end = -1;

// Nothing that a compiler adds may use other memory: no calls into the C library, no counters of a coverage report.
#define IN_GUARDIAN                                                                                     \
    __attribute__((section("martlet_guardian"), noinline, optnone, no_stack_protector, used,            \
                   no_profile_instrument_function, disable_sanitizer_instrumentation, no_sanitize("undefined")))

#if !defined(__x86_64__) && !defined(__aarch64__)
#error "the guardian makes its system calls itself, and knows only x86-64 and ARM64"
#endif

IN_GUARDIAN static long ask_kernel(long number, long a, long b, long c, long d) {
#if defined(__x86_64__)
    long result;
    register long r10 __asm__("r10") = d;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
                     : "rcx", "r11", "memory");
    return result;
#else
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x8 __asm__("x8") = number;
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x3), "r"(x8) : "memory");
    return x0;
#endif
}

// The ends of the guardian's code, from the linker.
extern const char __start_martlet_guardian[] __attribute__((visibility("hidden")));
extern const char __stop_martlet_guardian[] __attribute__((visibility("hidden")));

// Unmaps everything but the code and the shared memory.
IN_GUARDIAN static void shrink(struct guardian *own, uintptr_t code, uintptr_t code_end) {
    // The kernel writes to this area of the C library whenever the process runs again.
    if (own->rseq && ask_kernel(SYS_rseq, (long)own->rseq, own->rseq_length, 1, own->rseq_signature) != 0) return;
    uintptr_t data = (uintptr_t)own, data_end = data + ((sizeof *own + 4095) & ~(uintptr_t)4095);
    bool is_code_first = code < data;
    uintptr_t low = is_code_first ? code : data, low_end = is_code_first ? code_end : data_end;
    uintptr_t high = is_code_first ? data : code, high_end = is_code_first ? data_end : code_end;
    ask_kernel(SYS_munmap, 0, (long)low, 0, 0);
    if (high > low_end) ask_kernel(SYS_munmap, (long)low_end, (long)(high - low_end), 0, 0);
    // Where the addresses of a process end depends on the machine; beyond that the call fails.
    for (int bits = 56; bits > 32; bits--) {
        uintptr_t top = ((uintptr_t)1 << bits) - 4096;
        if (top > high_end && ask_kernel(SYS_munmap, (long)high_end, (long)(top - high_end), 0, 0) == 0) return;
    }
}

IN_GUARDIAN static bool has_modes_of_program(struct guardian *own) {
    struct modes now;
    // It was killed before it could note them.
    if (own->raw.control == 0) return true;
    if (ask_kernel(SYS_ioctl, own->terminal, TCGETS, (long)&now, 0) != 0) return false;
    // How to reprint a line or discard output is not compared; the flags are what a shell would have changed.
    return now.local == own->raw.local && now.input == own->raw.input && now.output == own->raw.output;
}

IN_GUARDIAN static void leave_for_program(struct guardian *own) {
    int owner = 0;
    if (own->has_jobs) {
        // This fails if the terminal is gone.
        if (ask_kernel(SYS_ioctl, own->terminal, TIOCGPGRP, (long)&owner, 0) != 0) return;
        if (owner != own->group && owner != own->parent && owner != own->session) return;
    }
    if ((!own->has_jobs || owner == own->group) && has_modes_of_program(own))
        ask_kernel(SYS_ioctl, own->terminal, TCSETS, (long)&own->saved, 0);
    // The program has not shown the screen yet, or has left it.
    if (own->state == screen_off) return;
    // Loads and stores only: for others a compiler may call a function of its library. No other process writes by now.
    for (unsigned done; (done = atomic_load(&own->written)) < own->length;) {
        // This waits for a stopped terminal, and what a shell writes waits behind it. It fails if the terminal is gone.
        long count = ask_kernel(SYS_write, own->terminal, (long)(own->leave + done), own->length - done, 0);
        if (count > 0) atomic_store(&own->written, done + (unsigned)count);
        else if (count != -EINTR) return;
    }
}

IN_GUARDIAN static int guard(void *argument) {
    struct guardian *own = argument;
    uintptr_t code = (uintptr_t)__start_martlet_guardian & ~(uintptr_t)4095;
    uintptr_t code_end = ((uintptr_t)__stop_martlet_guardian + 4095) & ~(uintptr_t)4095;
    ask_kernel(SYS_setpgid, 0, 0, 0, 0);
    ask_kernel(SYS_prctl, PR_SET_NAME, (long)own->name, 0, 0);
    // Its own end of the program's pipe first and by number: with it the guardian would wait for itself if the kernel, or
    // a filter of system calls, does not have close_range.
    ask_kernel(SYS_close, own->write_end, 0, 0, 0);
    // Nothing that the program has open, nor its folder, may stay in use.
    int first = own->pipe < own->terminal ? own->pipe : own->terminal;
    int second = own->pipe < own->terminal ? own->terminal : own->pipe;
    if (first > 0) ask_kernel(SYS_close_range, 0, first - 1, 0, 0);
    if (second > first + 1) ask_kernel(SYS_close_range, first + 1, second - 1, 0, 0);
    ask_kernel(SYS_close_range, second + 1, ~0u, 0, 0);
    ask_kernel(SYS_chdir, (long)own->root, 0, 0, 0);
    shrink(own, code, code_end);
    char byte = 0;
    long count;
    do count = ask_kernel(SYS_read, own->pipe, (long)&byte, 1, 0);
    while (count == -EINTR);
    leave_for_program(own);
    ask_kernel(SYS_exit_group, 0, 0, 0, 0);
    return 0;
}

// MARK: The program's side

struct guardian *martlet_guardian_memory(void) {
    if (shared) return shared;
    void *memory =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    return shared = memory;
}

// Opens the terminal of `fd` again: the guardian waits for a stopped terminal, and the program does not.
static int reopen(int fd) {
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    // Opening itself must not wait for the other end of a line.
    int opened = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    if (opened < 0) return fcntl(fd, F_DUPFD_CLOEXEC, 0);
    fcntl(opened, F_SETFL, O_RDWR);
    return opened;
}

static void note_rseq(void) {
    shared->rseq = NULL;
#ifdef RSEQ_SIG
    if (__rseq_size == 0) return;
    shared->rseq = (char *)__builtin_thread_pointer() + __rseq_offset;
    // It is registered with at least the size of its first version.
    shared->rseq_length = __rseq_size < 32 ? 32 : __rseq_size;
    shared->rseq_signature = RSEQ_SIG;
#endif
}

void martlet_guardian_abandon(void) {
    if (process < 0) return;
    kill(process, SIGKILL);
    while (waitpid(process, NULL, __WALL) < 0 && errno == EINTR) {}
    process = -1;
}

int martlet_guardian_start(int fd) {
    int ends[2];
    // A pair of sockets is a pipe to which one can write without SIGPIPE.
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return errno;
    int terminal = reopen(fd);
    if (terminal < 0) {
        int error = errno;
        close(ends[0]);
        close(ends[1]);
        return error;
    }
    shared->terminal = terminal;
    shared->pipe = ends[0];
    shared->write_end = ends[1];
    shared->has_jobs = tcgetpgrp(terminal) >= 0;
    shared->group = getpgrp();
    shared->parent = getpgid(getppid());
    shared->session = getsid(0);
    strcpy(shared->root, "/");
    strcpy(shared->name, "martlet-guard");
    note_rseq();
    // What is blocked now stays blocked in the guardian.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    // A copy of the process, as with fork, on another stack and without a signal at its end.
    int child = clone(guard, shared->stack + sizeof shared->stack, 0, shared);
    int error = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(terminal);
    close(ends[0]);
    if (child < 0) {
        close(ends[1]);
        return error;
    }
    process = child;
    write_end = ends[1];
    return 0;
}

void martlet_guardian_note(int fd, bool is_saved) {
    ioctl(fd, TCGETS, is_saved ? &shared->saved : &shared->raw);
}

void martlet_guardian_end(void) {
    int end = atomic_exchange(&write_end, -1);
    if (end < 0) return;
    // A goodbye, instead of the end of the pipe alone: a child of the program may hold it.
    ssize_t ignored = send(end, "", 1, MSG_NOSIGNAL);
    (void)ignored;
    close(end);
    // With a stopped terminal it still has something to write.
    if (atomic_load(&shared->state) != screen_off) return;
    for (int patience = 500; patience > 0; patience--) {
        pid_t ended = waitpid(process, NULL, __WALL | WNOHANG);
        if (ended == process || (ended < 0 && errno != EINTR)) {
            process = -1;
            return;
        }
        poll(NULL, 0, 1);
    }
}
