#define _GNU_SOURCE
#include "CSSHClient.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

// Passwords, keys and what commands print pass through the memory of a session.

static void release(void *memory, void **context) {
    (void)context;
    if (!memory) return;
    explicit_bzero(memory, malloc_usable_size(memory));
    free(memory);
}

static void *allocate(size_t count, void **context) {
    (void)context;
    return malloc(count);
}

static void *resize(void *memory, size_t count, void **context) {
    void *larger = malloc(count);
    if (larger && memory) {
        size_t old = malloc_usable_size(memory);
        memcpy(larger, memory, old < count ? old : count);
        release(memory, context);
    }
    return larger;
}

LIBSSH2_SESSION *sshclient_session(void *context, sshclient_receive receive, sshclient_send send) {
    LIBSSH2_SESSION *session = libssh2_session_init_ex(allocate, release, resize, context);
    if (!session) return NULL;
    libssh2_session_set_blocking(session, 0);
    // The callbacks are functions, and POSIX guarantees that a pointer to data can hold one.
    void *callback;
    memcpy(&callback, &receive, sizeof callback);
    libssh2_session_callback_set(session, LIBSSH2_CALLBACK_RECV, callback);
    memcpy(&callback, &send, sizeof callback);
    libssh2_session_callback_set(session, LIBSSH2_CALLBACK_SEND, callback);
    return session;
}

void *sshclient_copy(const void *bytes, size_t count) {
    void *copy = malloc(count ? count : 1);
    if (copy) memcpy(copy, bytes, count);
    return copy;
}

void sshclient_release(void *memory) { release(memory, NULL); }

int sshclient_password(LIBSSH2_SESSION *session, const char *user, size_t count, const char *password, size_t length) {
    return libssh2_userauth_password_ex(session, user, (unsigned)count, password, (unsigned)length, NULL);
}
