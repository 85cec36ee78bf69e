#define _GNU_SOURCE
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

// The supervisor is a copy of this process that never becomes a program. Orphaned descendants become its children,
// whatever their group or session. It calls only functions that are safe after a fork among threads. It contains the
// memory of this process, so it is closed to other processes.

enum { LIFELINE, SIGNALS };

// Kills the children that the system lists. Their children then become children of this process.
static void kill_children(void) {
    char bytes[4096];
    int list = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    if (list < 0) return;
    pid_t child = 0;
    for (ssize_t count; (count = read(list, bytes, sizeof bytes)) > 0;) {
        for (ssize_t i = 0; i < count; i++) {
            if (bytes[i] >= '0' && bytes[i] <= '9') {
                child = child * 10 + (bytes[i] - '0');
            } else if (child > 0) {
                kill(child, SIGKILL);
                child = 0;
            }
        }
    }
    close(list);
}

// Returns when no child is left.
static void end_all(pid_t main, int *status) {
    // Kills its whole group at once, however fast it multiplies.
    kill(-main, SIGKILL);
    for (;;) {
        kill_children();
        int ended;
        pid_t process = waitpid(-1, &ended, __WALL);
        if (process < 0 && errno != EINTR) return;
        for (; process > 0; process = waitpid(-1, &ended, __WALL | WNOHANG))
            if (process == main) *status = ended;
    }
}

// It is reaped only after its group was killed, so that no other process with its number is hit.
static bool has_ended(pid_t main) {
    for (;;) {
        siginfo_t info = {.si_pid = 0};
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) != 0 || info.si_pid == 0) return false;
        if (info.si_pid == main) return true;
        waitpid(info.si_pid, NULL, __WALL);
    }
}

// Returns when the child has ended, or the process with the other end of the lifeline.
static void watch(pid_t main, struct pollfd *watched) {
    for (;;) {
        if (poll(watched, 2, -1) < 0 && errno != EINTR) return;
        if (watched[LIFELINE].revents) return;
        struct signalfd_siginfo signal;
        while (read(watched[SIGNALS].fd, &signal, sizeof signal) == sizeof signal)
            // Signals to this process are for the child.
            if (signal.ssi_signo != SIGCHLD) kill(-main, (int)signal.ssi_signo);
        if (has_ended(main)) return;
    }
}

__attribute__((noreturn)) static void end_like(int status) {
    if (WIFSIGNALED(status)) {
        const struct rlimit none = {0, 0};
        const struct sigaction standard = {.sa_handler = SIG_DFL};
        sigset_t all;
        setrlimit(RLIMIT_CORE, &none);
        (void)sigaction(WTERMSIG(status), &standard, NULL);
        kill(getpid(), WTERMSIG(status));
        sigfillset(&all);
        sigprocmask(SIG_UNBLOCK, &all, NULL);
        _exit(128 + WTERMSIG(status));
    }
    _exit(WEXITSTATUS(status));
}

// The lowest descriptor, from a number on, that the child still needs.
static int next_needed(const struct processkit_spawn *request, int report, int from) {
    const int given[] = {
        request->standard[0], request->standard[1], request->standard[2], request->watched, request->terminal, report,
        request->restriction ? request->restriction->ruleset : -1,
    };
    int next = INT_MAX;
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        if (given[i] >= from && given[i] < next) next = given[i];
    for (int i = 0; i < request->passed_count; i++)
        if (request->passed[i] >= from && request->passed[i] < next) next = request->passed[i];
    return next;
}

// Closed at once, because a copy of a descriptor also holds its lock.
static void close_others(const struct processkit_spawn *request, int report) {
    int from = 3;
    for (int next; (next = next_needed(request, report, from)) < INT_MAX; from = next + 1)
        if (next > from) close_range((unsigned)from, (unsigned)next - 1, 0);
    closefrom(from);
}

__attribute__((noreturn)) static void supervise(const struct processkit_spawn *request, int report) {
    struct failure failure = {0, PROCESSKIT_STARTING};
    struct processkit_spawn own = *request;
    own.watched = -1;
    own.directory = NULL;
    pid_t main = -1;
    // Before the descriptors are closed, because the path may lead through one.
    bool is_there = !request->directory || chdir(request->directory) == 0;
    if (is_there) close_others(request, report);
    if (!is_there || setpgid(0, 0) != 0 || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0
        || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
        failure.number = errno;
    else
        main = processkit_start(&own, &failure);
    if (main < 0 || failure.number) {
        if (!failure.number) failure.number = errno;
        (void)!write(report, &failure, sizeof failure);
        _exit(127);
    }
    // The open descriptors belong to the parent, and must not stay open when the parent closes them. The end of the
    // report tells the parent that all went well.
    sigset_t all;
    sigfillset(&all);
    struct pollfd watched[] = {{.fd = 0, .events = POLLIN}, {.events = POLLIN}};
    bool is_watched = dup2(request->watched, 0) == 0;
    closefrom(1);
    (void)!chdir("/");
    watched[SIGNALS].fd = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
    int status = SIGKILL;
    if (is_watched && watched[SIGNALS].fd >= 0) watch(main, watched);
    end_all(main, &status);
    end_like(status);
}

int processkit_supervise(const struct processkit_spawn *request, struct failure *failure) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    pid_t supervisor = _Fork();
    if (supervisor == 0) supervise(request, ends[1]);
    int number = errno;
    close(ends[1]);
    if (supervisor > 0) {
        ssize_t count;
        do count = read(ends[0], failure, sizeof *failure);
        while (count < 0 && errno == EINTR);
    }
    close(ends[0]);
    errno = number;
    return supervisor;
}
