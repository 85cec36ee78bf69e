#define _GNU_SOURCE
#include "CSandboxKit.h"

#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <seccomp.h>
#include <sys/socket.h>
#include <unistd.h>

// These are newer than the library's table. The numbers are the same on all architectures.
enum { FCHMODAT2 = 452, SETXATTRAT = 463, REMOVEXATTRAT = 466 };

// No command needs these. They lead around the sandbox or deep into the kernel: other namespaces, the user's kernel
// keys, which namespaces do not separate, and interfaces that bypass these rules.
static const int refused[] = {
    SCMP_SYS(unshare),       SCMP_SYS(setns),           SCMP_SYS(mount),           SCMP_SYS(umount2),
    SCMP_SYS(pivot_root),    SCMP_SYS(move_mount),      SCMP_SYS(open_tree),       SCMP_SYS(fsopen),
    SCMP_SYS(fsmount),       SCMP_SYS(mount_setattr),   SCMP_SYS(keyctl),          SCMP_SYS(add_key),
    SCMP_SYS(request_key),   SCMP_SYS(bpf),             SCMP_SYS(perf_event_open), SCMP_SYS(userfaultfd),
    SCMP_SYS(io_uring_setup), SCMP_SYS(io_uring_enter), SCMP_SYS(io_uring_register), SCMP_SYS(open_by_handle_at),
    SCMP_SYS(pidfd_getfd),   SCMP_SYS(kexec_load),      SCMP_SYS(init_module),     SCMP_SYS(finit_module),
};

// These reach other processes, or memory shared with them. They are refused if the command has no separate namespaces.
static const int reaching[] = {
    SCMP_SYS(ptrace),        SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev), SCMP_SYS(shmget),
    SCMP_SYS(shmat),         SCMP_SYS(shmctl),           SCMP_SYS(msgget),            SCMP_SYS(msgsnd),
    SCMP_SYS(msgrcv),        SCMP_SYS(msgctl),           SCMP_SYS(semget),            SCMP_SYS(semop),
    SCMP_SYS(semtimedop),    SCMP_SYS(semctl),           SCMP_SYS(mq_open),           SCMP_SYS(mq_unlink),
};

// These include access control lists. Landlock does not restrict them for the user's own files. Programs cope without
// them, because some file systems do not have them.
static const int labels[] = {
    SCMP_SYS(setxattr),    SCMP_SYS(lsetxattr),    SCMP_SYS(fsetxattr),    SETXATTRAT,
    SCMP_SYS(removexattr), SCMP_SYS(lremovexattr), SCMP_SYS(fremovexattr), REMOVEXATTRAT,
};

// A filter cannot read their arguments, which are in memory. Programs fall back to the older calls.
static const int absent[] = {SCMP_SYS(clone3), SCMP_SYS(openat2)};

// Each with the index of the file mode argument. The first four change the mode of an existing file.
enum { CHANGING = 4 };
static const struct { int call; unsigned mode; } modes[] = {
    {SCMP_SYS(chmod), 1},    {SCMP_SYS(fchmod), 1}, {SCMP_SYS(fchmodat), 2}, {FCHMODAT2, 2},
    {SCMP_SYS(mkdir), 1},    {SCMP_SYS(mkdirat), 2}, {SCMP_SYS(mknod), 1},   {SCMP_SYS(mknodat), 2},
    {SCMP_SYS(creat), 1},
};

// Each with the indexes of the flags and the mode. The mode matters only if a file is created.
static const struct { int call; unsigned flags, mode; } opens[] = {{SCMP_SYS(open), 1, 2}, {SCMP_SYS(openat), 2, 3}};

static int refuse_bits(scmp_filter_ctx filter, scmp_datum_t bits) {
    int failure = 0;
    for (size_t i = 0; i < sizeof modes / sizeof *modes && !failure; i++)
        failure = seccomp_rule_add(
            filter, SCMP_ACT_ERRNO(EPERM), modes[i].call, 1, SCMP_CMP(modes[i].mode, SCMP_CMP_MASKED_EQ, bits, bits));
    const scmp_datum_t making[] = {O_CREAT, O_TMPFILE & ~O_DIRECTORY};
    for (size_t i = 0; i < sizeof opens / sizeof *opens; i++)
        for (size_t j = 0; j < 2 && !failure; j++)
            failure = seccomp_rule_add(
                filter, SCMP_ACT_ERRNO(EPERM), opens[i].call, 2,
                SCMP_CMP(opens[i].flags, SCMP_CMP_MASKED_EQ, making[j], making[j]),
                SCMP_CMP(opens[i].mode, SCMP_CMP_MASKED_EQ, bits, bits));
    return failure;
}

// Only internet sockets are allowed. A Unix socket can be reached through any visible folder, and other families lead
// to the host of this machine or to kernel interfaces.
static int refuse_families(scmp_filter_ctx filter) {
    int failure = 0;
    for (scmp_datum_t family = 0; family < AF_INET6 && !failure; family++)
        if (family != AF_INET)
            failure = seccomp_rule_add(
                filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(socket), 1, SCMP_CMP(0, SCMP_CMP_EQ, family));
    if (!failure)
        failure = seccomp_rule_add(
            filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(socket), 1, SCMP_CMP(0, SCMP_CMP_GT, AF_INET6));
    return failure;
}

static int refuse_sockets(scmp_filter_ctx filter, unsigned kinds) {
    int failure = kinds & SANDBOXKIT_NO_NETWORK
        ? seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(socket), 0) : refuse_families(filter);
    // A datagram socket of a pair can send to any address. A raw Unix socket is a datagram socket.
    const scmp_datum_t types[] = {SOCK_DGRAM, SOCK_RAW};
    for (size_t i = 0; i < 2 && !failure; i++)
        failure = seccomp_rule_add(
            filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(socketpair), 1, SCMP_CMP(1, SCMP_CMP_MASKED_EQ, 0xf, types[i]));
    return failure;
}

// For a command without separate namespaces.
static int refuse_shared(scmp_filter_ctx filter) {
    int failure = 0;
    for (size_t i = 0; i < sizeof reaching / sizeof *reaching && !failure; i++)
        failure = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), reaching[i], 0);
    for (size_t i = 0; i < sizeof labels / sizeof *labels && !failure; i++)
        failure = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOTSUP), labels[i], 0);
    // Resource limits of other processes must not change.
    if (!failure)
        failure = seccomp_rule_add(
            filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(prlimit64), 1, SCMP_CMP(0, SCMP_CMP_NE, 0));
    // Landlock ignores modes. No other user may get write access to the user's files.
    for (size_t i = 0; i < CHANGING && !failure; i++)
        failure = seccomp_rule_add(
            filter, SCMP_ACT_ERRNO(EPERM), modes[i].call, 1, SCMP_CMP(modes[i].mode, SCMP_CMP_MASKED_EQ, 02, 02));
    return failure;
}

// Landlock before version 3 does not prevent truncating a file that may not be written.
static int refuse_truncating(scmp_filter_ctx filter) {
    int failure = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(truncate), 0);
    // Landlock treats access mode 3 as neither reading nor writing, but it can truncate a file.
    const scmp_datum_t ways[] = {O_RDONLY | O_TRUNC, O_ACCMODE | O_TRUNC};
    for (size_t i = 0; i < sizeof opens / sizeof *opens; i++)
        for (size_t j = 0; j < 2 && !failure; j++)
            failure = seccomp_rule_add(
                filter, SCMP_ACT_ERRNO(EPERM), opens[i].call, 1,
                SCMP_CMP(opens[i].flags, SCMP_CMP_MASKED_EQ, O_ACCMODE | O_TRUNC, ways[j]));
    return failure;
}

static int add_rules(scmp_filter_ctx filter, unsigned kinds) {
    int failure = 0;
    for (size_t i = 0; i < sizeof refused / sizeof *refused && !failure; i++)
        failure = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), refused[i], 0);
    for (size_t i = 0; i < sizeof absent / sizeof *absent && !failure; i++)
        failure = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), absent[i], 0);
    if (!failure)
        failure = seccomp_rule_add(
            filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
            SCMP_CMP(0, SCMP_CMP_MASKED_EQ, CLONE_NEWUSER, CLONE_NEWUSER));
    // Both insert characters into the terminal as if they were typed.
    const scmp_datum_t typing[] = {TIOCSTI, TIOCLINUX};
    for (size_t i = 0; i < 2 && !failure; i++)
        failure = seccomp_rule_add(
            filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ioctl), 1,
            SCMP_CMP(1, SCMP_CMP_MASKED_EQ, 0xffffffff, typing[i]));
    // A program that the command leaves behind must not be setuid when the user starts it.
    if (!failure) failure = refuse_bits(filter, 04000);
    if (!failure) failure = refuse_bits(filter, 02000);
    if (!failure) failure = refuse_sockets(filter, kinds);
    if (!failure && kinds & SANDBOXKIT_SHARED) failure = refuse_shared(filter);
    if (!failure && kinds & SANDBOXKIT_NO_TRUNCATING) failure = refuse_truncating(filter);
    return failure;
}

int sandboxkit_filter(unsigned kinds) {
    int memory = sandboxkit_memory(NULL, 0);
    if (memory < 0) return memory;
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    int failure = filter ? 0 : -ENOMEM;
    // System calls of another architecture have other numbers.
    if (!failure) failure = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    if (!failure) failure = add_rules(filter, kinds);
    if (!failure) failure = seccomp_export_bpf(filter, memory);
    if (filter) seccomp_release(filter);
    if (!failure && lseek(memory, 0, SEEK_SET) != 0) failure = -errno;
    if (!failure) return memory;
    close(memory);
    return failure;
}

void sandboxkit_library_version(unsigned *major, unsigned *minor, unsigned *micro) {
    const struct scmp_version *version = seccomp_version();
    *major = version ? version->major : 0;
    *minor = version ? version->minor : 0;
    *micro = version ? version->micro : 0;
}
