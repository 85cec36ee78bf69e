#define _GNU_SOURCE
#include "CProcessKit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

// As this process was started: what it allows itself later is not meant for the programs that it runs.
static struct rlimit given_descriptors;

__attribute__((constructor)) static void note_limits(void) {
    getrlimit(RLIMIT_NOFILE, &given_descriptors);
}

// Some programs walk along all descriptors that they may have, which takes seconds where a server has raised the limit.
// There is no attribute of posix_spawn for it, so it is set when the program has just begun.
static void restore_limits(int process) {
    struct rlimit current;
    if (getrlimit(RLIMIT_NOFILE, &current) != 0 || current.rlim_cur <= given_descriptors.rlim_cur) return;
    current.rlim_cur = given_descriptors.rlim_cur;
    // A child that has ended needs no limit.
    (void)prlimit(process, RLIMIT_NOFILE, &current, NULL);
}

// The signals that the child starts with as if nobody had ever touched them. Who was started by nohup to outlive the
// terminal means its children to do so as well.
static void default_signals(sigset_t *signals) {
    struct sigaction current;
    sigfillset(signals);
    if (sigaction(SIGHUP, NULL, &current) == 0 && current.sa_handler == SIG_IGN) sigdelset(signals, SIGHUP);
}

// The last of the actions: the others may still need the descriptors that have these numbers here.
static int add_further(posix_spawn_file_actions_t *actions, const struct processkit_spawn *request) {
    // A copy must not take the number of one that is still to be copied, so that each goes by way of a number above all.
    int above = 4 + request->passed_count;
    for (int i = 0; i < request->passed_count; i++)
        if (request->passed[i] >= above) above = request->passed[i] + 1;
    if (request->watched >= above) above = request->watched + 1;
    int failure = 0;
    for (int i = 0; i < request->passed_count && !failure; i++)
        failure = posix_spawn_file_actions_adddup2(actions, request->passed[i], above + i);
    if (!failure && request->watched >= 0) failure = posix_spawn_file_actions_adddup2(actions, request->watched, 3);
    for (int i = 0; i < request->passed_count && !failure; i++)
        failure = posix_spawn_file_actions_adddup2(actions, above + i, 4 + i);
    if (!failure && request->watched < 0 && request->passed_count > 0)
        failure = posix_spawn_file_actions_addclose(actions, 3);
    if (failure) return failure;
    int first = request->passed_count > 0 ? 4 + request->passed_count : request->watched < 0 ? 3 : 4;
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

static int add_actions(posix_spawn_file_actions_t *actions, const struct processkit_spawn *request) {
    int failure = 0;
    for (int number = 0; number < 3 && !failure; number++) {
        int source = request->standard[number];
        if (source == PROCESSKIT_NULL)
            failure = posix_spawn_file_actions_addopen(
                actions, number, "/dev/null", number == 0 ? O_RDONLY : O_WRONLY, 0);
        else if (source != PROCESSKIT_INHERIT)
            failure = posix_spawn_file_actions_adddup2(actions, source, number);
    }
    if (!failure && request->terminal >= 0)
        failure = posix_spawn_file_actions_addtcsetpgrp_np(actions, request->terminal);
    if (!failure && request->directory)
        failure = posix_spawn_file_actions_addchdir_np(actions, request->directory);
    if (!failure)
        failure = add_further(actions, request);
    return failure;
}

int processkit_spawn(const struct processkit_spawn *request, int *process, int *pidfd) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, defaults;
    sigemptyset(&none);
    default_signals(&defaults);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setpgroup(&attributes, 0);
    // The leader of a session leads its group as well, and may not be given another.
    int group = request->session ? POSIX_SPAWN_SETSID : POSIX_SPAWN_SETPGROUP;
    posix_spawnattr_setflags(&attributes, (short)(group | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
    int failure = add_actions(&actions, request);
    if (!failure)
        failure = posix_spawn(
            process, request->path, &actions, &attributes, request->arguments, request->environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (failure) {
        *process = -1;
        return -failure;
    }
    restore_limits(*process);

    // Nobody else waits for this child, so its number cannot have been given away yet.
    *pidfd = pidfd_open(*process, 0);
    if (*pidfd >= 0) return 0;
    failure = errno;
    kill(-*process, SIGKILL);
    waitpid(*process, NULL, 0);
    return -failure;
}

// Where the program was started without standard descriptors, a pipe could get their numbers and be overwritten.
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
