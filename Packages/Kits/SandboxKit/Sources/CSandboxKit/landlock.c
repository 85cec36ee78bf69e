#define _GNU_SOURCE
#include "CSandboxKit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/syscall.h>
#include <unistd.h>

// The structure of newer kernels. Older kernels accept it if the members that they do not know are zero.
struct rules {
    uint64_t files;
    uint64_t network;
    uint64_t scopes;
};

int sandboxkit_landlock_version(void) {
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    return version >= 0 ? (int)version : -errno;
}

int sandboxkit_landlock_rules(uint64_t rights, uint64_t scopes) {
    const struct rules rules = {.files = rights, .scopes = scopes};
    long made = syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
    return made >= 0 ? (int)made : -errno;
}

int sandboxkit_landlock_place(const char *path) {
    int place = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    return place >= 0 ? place : -errno;
}

int sandboxkit_landlock_allow(int rules, int place, uint64_t rights) {
    const struct landlock_path_beneath_attr beneath = {.allowed_access = rights, .parent_fd = place};
    return syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) == 0 ? 0 : -errno;
}
