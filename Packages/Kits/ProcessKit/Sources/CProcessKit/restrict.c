#define _GNU_SOURCE
#include "child.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// With direct system calls: the library's functions affect all threads of the process, and a child that shares the
// memory of its parent would affect the parent's threads.

int processkit_drop_groups(void) {
    // Without the permission, the user is not an administrator and keeps its groups.
    return syscall(SYS_setgroups, 0, NULL) != 0 && errno != EPERM ? -1 : 0;
}

int processkit_drop_rights(void) {
    if (processkit_drop_groups() != 0) return -1;
    // After the last capability the number is invalid. A process that may not drop capabilities cannot gain any either.
    for (unsigned long right = 0; prctl(PR_CAPBSET_DROP, right, 0, 0, 0) == 0;) right++;
    if (errno != EINVAL && errno != EPERM) return -1;
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0) return -1;
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    return (int)syscall(SYS_capset, &header, none);
}

int processkit_restrict(const struct processkit_restriction *restriction) {
    if (processkit_drop_rights() != 0) return -1;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    return (int)syscall(SYS_landlock_restrict_self, restriction->ruleset, 0);
}

int processkit_filter(const struct processkit_restriction *restriction) {
    const struct sock_fprog program = {
        .len = (unsigned short)restriction->filter_count,
        .filter = (struct sock_filter *)restriction->filter,
    };
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}
