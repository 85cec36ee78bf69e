#define _GNU_SOURCE
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

// The limits at the start of this process. Later changes do not apply to the programs that it runs.
static struct rlimit given_descriptors;

__attribute__((constructor)) static void note_limits(void) {
    getrlimit(RLIMIT_NOFILE, &given_descriptors);
}

// A child runs in the memory of this process, whose thread waits for it, until it has become its program or has ended.
// So it calls only functions that are safe in a signal handler, and writes only to its own variables, errno and this
// failure. posix_spawn works the same way, but can neither set limits nor start the watcher from within the child. The
// thread sanitizer makes it a fork: then the failure stays 0, and the child ends with 127.
typedef volatile struct failure failure_report;

__attribute__((noreturn)) static void fail(failure_report *failure) {
    failure->number = errno;
    _exit(127);
}

// The child starts with default signals, except those that nohup ignores so that children outlive the terminal too.
static void default_signals(void) {
    const struct sigaction standard = {.sa_handler = SIG_DFL};
    struct sigaction current;
    for (int number = 1; number < NSIG; number++) {
        if (number == SIGHUP && sigaction(number, NULL, &current) == 0 && current.sa_handler == SIG_IGN) continue;
        // Signals that cannot be changed return an error.
        (void)sigaction(number, &standard, NULL);
    }
}

static int set_null(int number) {
    int opened = open("/dev/null", number == 0 ? O_RDONLY : O_WRONLY);
    if (opened < 0 || opened == number) return opened;
    int result = dup2(opened, number);
    close(opened);
    return result;
}

static void set_standard(const struct processkit_spawn *request, failure_report *failure) {
    for (int number = 0; number < 3; number++) {
        int source = request->standard[number];
        if (source == PROCESSKIT_INHERIT) continue;
        if (source == PROCESSKIT_OUTPUT) source = 1;
        if ((source == PROCESSKIT_NULL ? set_null(number) : dup2(source, number)) < 0) fail(failure);
    }
}

// Nothing is ever written to the watcher's input, and only this process has the other end, which closes when this
// process ends. The watcher then kills its own group.
static char *const watching[] = {"sh", "-c", "read -r _; kill -KILL 0", NULL};

struct watcher {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
};

static int prepare_watcher(struct watcher *prepared, int watched) {
    sigset_t none;
    sigemptyset(&none);
    posix_spawn_file_actions_init(&prepared->actions);
    posix_spawnattr_init(&prepared->attributes);
    posix_spawnattr_setsigmask(&prepared->attributes, &none);
    posix_spawnattr_setflags(&prepared->attributes, POSIX_SPAWN_SETSIGMASK);
    int failure = posix_spawn_file_actions_adddup2(&prepared->actions, watched, 0);
    for (int number = 1; number < 3 && !failure; number++)
        failure = posix_spawn_file_actions_addopen(&prepared->actions, number, "/dev/null", O_WRONLY, 0);
    // The watcher does not keep the program's folder in use.
    if (!failure) failure = posix_spawn_file_actions_addchdir_np(&prepared->actions, "/");
    if (!failure) failure = posix_spawn_file_actions_addclosefrom_np(&prepared->actions, 3);
    return failure;
}

static void destroy_watcher(struct watcher *prepared) {
    posix_spawn_file_actions_destroy(&prepared->actions);
    posix_spawnattr_destroy(&prepared->attributes);
}

// With posix_spawn, because a second vfork would overwrite the return address that the address sanitizer keeps for the
// first.
static void start_watcher(const struct watcher *prepared, failure_report *failure) {
    static char *const environment[] = {NULL};
    // It ignores these signals from the start, so that it exists until the group is killed.
    const int ignored[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    enum { COUNT = sizeof ignored / sizeof *ignored };
    const struct sigaction ignoring = {.sa_handler = SIG_IGN};
    struct sigaction before[COUNT];
    pid_t process;
    for (int i = 0; i < COUNT; i++) sigaction(ignored[i], &ignoring, &before[i]);
    errno = posix_spawn(&process, "/bin/sh", &prepared->actions, &prepared->attributes, watching, environment);
    if (errno) fail(failure);
    for (int i = 0; i < COUNT; i++) sigaction(ignored[i], &before[i], NULL);
}

// Last except for the limits, because all earlier steps may need the descriptors that have these numbers here.
static void pass_descriptors(const struct processkit_spawn *request, failure_report *failure) {
    // A copy must not overwrite a descriptor that is still to be copied, so each goes through a number above all
    // others.
    int above = 4 + request->passed_count;
    for (int i = 0; i < request->passed_count; i++)
        if (request->passed[i] >= above) above = request->passed[i] + 1;
    for (int i = 0; i < request->passed_count; i++)
        if (dup2(request->passed[i], above + i) < 0) fail(failure);
    for (int i = 0; i < request->passed_count; i++)
        if (dup2(above + i, 4 + i) < 0) fail(failure);
    close(3);
    closefrom(request->passed_count > 0 ? 4 + request->passed_count : 3);
}

// Sets both limits, so that the program cannot raise it again.
static void lower(int resource, rlim_t most, failure_report *failure) {
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0) fail(failure);
    if (limit.rlim_max > most) limit.rlim_max = most;
    if (limit.rlim_cur > limit.rlim_max) limit.rlim_cur = limit.rlim_max;
    if (setrlimit(resource, &limit) != 0) fail(failure);
}

static void set_limits(const struct processkit_spawn *request, failure_report *failure) {
    struct rlimit limit;
    // Some programs loop over all possible descriptors, which takes seconds if a server has raised the limit.
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur > given_descriptors.rlim_cur) {
        limit.rlim_cur = given_descriptors.rlim_cur;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
    // With 0 the kernel still starts a program that collects core dumps through a pipe; with 1 it writes none and
    // starts none.
    if (request->no_core) lower(RLIMIT_CORE, 1, failure);
    if (request->most_tasks > 0) lower(RLIMIT_NPROC, request->most_tasks, failure);
    if (request->most_data > 0) lower(RLIMIT_DATA, request->most_data, failure);
}

__attribute__((noreturn, noinline)) static void become_child(
    const struct processkit_spawn *request, const struct watcher *prepared, failure_report *failure
) {
    default_signals();
    // A session leader already leads its group, and must not join another.
    if (request->session ? setsid() < 0 : setpgid(0, 0) != 0) fail(failure);
    if (request->watched >= 0) start_watcher(prepared, failure);
    set_standard(request, failure);
    // It is still in the background, and all signals that would stop it for this are blocked.
    if (request->terminal >= 0 && tcsetpgrp(request->terminal, getpgrp()) != 0) fail(failure);
    if (request->directory && chdir(request->directory) != 0) fail(failure);
    if (request->no_groups && processkit_drop_groups() != 0) fail(failure);
    // While the ruleset is still open. Nothing below opens a file.
    if (request->restriction) {
        failure->stage = PROCESSKIT_RESTRICTING;
        if (processkit_restrict(request->restriction) != 0) fail(failure);
        failure->stage = PROCESSKIT_STARTING;
    }
    pass_descriptors(request, failure);
    set_limits(request, failure);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    // Last of all, because it may forbid any of the calls above.
    if (request->restriction) {
        failure->stage = PROCESSKIT_RESTRICTING;
        if (processkit_filter(request->restriction) != 0) fail(failure);
        failure->stage = PROCESSKIT_STARTING;
    }
    execve(request->path, request->arguments, request->environment);
    fail(failure);
}

static void wait_for(pid_t process) {
    while (waitpid(process, NULL, 0) < 0 && errno == EINTR) {}
}

int processkit_start(const struct processkit_spawn *request, struct failure *failure) {
    struct watcher prepared;
    if (request->watched >= 0) {
        errno = prepare_watcher(&prepared, request->watched);
        if (errno) {
            destroy_watcher(&prepared);
            return -1;
        }
    }
    pid_t child = vfork();
    if (child == 0) become_child(request, &prepared, failure);
    int number = errno;
    if (request->watched >= 0) destroy_watcher(&prepared);
    errno = number;
    return child;
}

int processkit_spawn(
    const struct processkit_spawn *request, int *process, int *pidfd, enum processkit_stage *stage
) {
    sigset_t all, before;
    struct failure failed = {0, PROCESSKIT_STARTING};
    *process = -1;
    // A handler that runs in the child would use the memory of this process.
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t child = request->supervised ? processkit_supervise(request, &failed) : processkit_start(request, &failed);
    int failure = child < 0 ? errno : failed.number;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    *stage = failed.stage;
    if (child > 0 && failure) wait_for(child);
    if (failure) return -failure;
    *process = child;

    // Only this code waits for this child, so its number cannot have been reused yet.
    *pidfd = pidfd_open(child, 0);
    if (*pidfd >= 0) return 0;
    failure = errno;
    kill(-child, SIGKILL);
    wait_for(child);
    return -failure;
}

// If the program was started without standard descriptors, a pipe could get their numbers and be overwritten.
static int above_standard(int descriptor) {
    if (descriptor > 2) return descriptor;
    int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    close(descriptor);
    return moved;
}

int processkit_pipe(int *read_end, int *write_end) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return -errno;
    *read_end = above_standard(ends[0]);
    *write_end = above_standard(ends[1]);
    if (*read_end >= 0 && *write_end >= 0) return 0;
    int failure = errno;
    close(*read_end);
    close(*write_end);
    return -failure;
}

int processkit_wait(int pidfd, int flags, struct processkit_state *state) {
    siginfo_t info;
    memset(&info, 0, sizeof info);
    if (waitid(P_PIDFD, (id_t)pidfd, &info, flags) != 0) return -errno;
    state->code = info.si_pid == 0 ? 0 : info.si_code;
    state->status = info.si_status;
    return 0;
}

int processkit_pidfd_open(int process) {
    int descriptor = pidfd_open(process, 0);
    return descriptor >= 0 ? descriptor : -errno;
}

int processkit_pidfd_signal(int pidfd, int number) {
    return pidfd_send_signal(pidfd, number, NULL, 0) == 0 ? 0 : -errno;
}
