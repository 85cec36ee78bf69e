// System calls of the kernel's keyring, and libsecret, which is loaded on demand. Swift cannot call these directly.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// The kernel's keyring. Each function returns a serial number, a size or 0, or a negative errno on failure. The system
// calls are used directly, because libkeyutils would be one more library to link for nine calls.

enum {
    AUTHVAULT_THREAD_RING = -1,
    AUTHVAULT_SESSION_RING = -3,
    AUTHVAULT_USER_RING = -4,
    AUTHVAULT_USER_SESSION_RING = -5,
};

int32_t authvault_ring(int32_t ring);
int32_t authvault_key_add(
    const char *_Nonnull description, const void *_Nullable payload, int32_t size, int32_t ring);
int32_t authvault_key_restrict(int32_t key, uint32_t permissions);
int32_t authvault_key_expire(int32_t key, uint32_t seconds);
int32_t authvault_key_link(int32_t key, int32_t ring);
int32_t authvault_key_unlink(int32_t key, int32_t ring);
int32_t authvault_key_search(int32_t ring, const char *_Nonnull description, int32_t into);
int32_t authvault_key_read(int32_t key, void *_Nullable buffer, int32_t size);
int32_t authvault_key_invalidate(int32_t key);

// The desktop keyring through libsecret. Every call blocks. A cancellation from another thread ends it early.

struct authvault_desktop; // the loaded functions; never unloaded, because GLib cannot be
struct authvault_call;    // one call, with its cancellation and its result

struct authvault_desktop *_Nullable authvault_desktop_load(void);

struct authvault_call *_Nullable authvault_call_new(struct authvault_desktop *_Nonnull desktop);
void authvault_call_cancel(struct authvault_call *_Nonnull call);
void authvault_call_free(struct authvault_call *_Nullable call);

// Each returns whether it succeeded. If not, `authvault_call_error` returns the reason until the call is freed.
bool authvault_store(
    struct authvault_call *_Nonnull call, const char *_Nonnull name, const char *_Nonnull label,
    const char *_Nonnull secret);
bool authvault_clear(struct authvault_call *_Nonnull call, const char *_Nonnull name);
// Finds the items of one name, or all items. `visit` gets each name, and the secret if `unlock` is set and the item
// could be unlocked.
bool authvault_search(
    struct authvault_call *_Nonnull call, const char *_Nullable name, bool unlock, void *_Nonnull context,
    void (*_Nonnull visit)(void *_Nonnull context, const char *_Nonnull name, const char *_Nullable secret));
const char *_Nullable authvault_call_error(const struct authvault_call *_Nonnull call);
