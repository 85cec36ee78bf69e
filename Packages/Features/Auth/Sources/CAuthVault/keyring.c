#define _GNU_SOURCE
#include "CAuthVault.h"

#include <errno.h>
#include <linux/keyctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int32_t answer(long result) { return result < 0 ? -errno : (int32_t)result; }

int32_t authvault_ring(int32_t ring) { return answer(syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, (long)ring, 0L)); }

int32_t authvault_key_add(const char *description, const void *payload, int32_t size, int32_t ring) {
    return answer(syscall(SYS_add_key, "user", description, payload, (size_t)size, (long)ring));
}

int32_t authvault_key_restrict(int32_t key, uint32_t permissions) {
    return answer(syscall(SYS_keyctl, KEYCTL_SETPERM, (long)key, (unsigned long)permissions));
}

int32_t authvault_key_expire(int32_t key, uint32_t seconds) {
    return answer(syscall(SYS_keyctl, KEYCTL_SET_TIMEOUT, (long)key, (unsigned long)seconds));
}

int32_t authvault_key_link(int32_t key, int32_t ring) {
    return answer(syscall(SYS_keyctl, KEYCTL_LINK, (long)key, (long)ring));
}

int32_t authvault_key_unlink(int32_t key, int32_t ring) {
    return answer(syscall(SYS_keyctl, KEYCTL_UNLINK, (long)key, (long)ring));
}

int32_t authvault_key_search(int32_t ring, const char *description, int32_t into) {
    return answer(syscall(SYS_keyctl, KEYCTL_SEARCH, (long)ring, "user", description, (long)into));
}

int32_t authvault_key_read(int32_t key, void *buffer, int32_t size) {
    return answer(syscall(SYS_keyctl, KEYCTL_READ, (long)key, buffer, (size_t)size));
}

int32_t authvault_key_invalidate(int32_t key) {
    return answer(syscall(SYS_keyctl, KEYCTL_INVALIDATE, (long)key));
}
