// Access to parts of libssh2 that Swift cannot use: function pointers passed as pointers to data, and macros.
//
// Swift imports only this module, which exports all of libssh2. libssh2 is not linked but opened: none of its functions
// may be called before sshclient_open has returned null.
#pragma once

#include <libssh2.h>
#include <stddef.h>
#include <sys/types.h>

#pragma clang assume_nonnull begin

// Opens libssh2 and finds its functions, once for each process; returns null, or why it cannot be used.
const char *_Nullable sshclient_open(const char *path);
// The system's name of the libssh2 that these headers belong to.
const char *sshclient_library(void);

// Receive or send: the number of bytes, or the negative error number of the system.
typedef ssize_t (*sshclient_receive)(int socket, void *buffer, size_t count, int flags, void *_Nullable *_Nonnull context);
typedef ssize_t (*sshclient_send)(int socket, const void *buffer, size_t count, int flags, void *_Nullable *_Nonnull context);

// A session that does not block, whose callbacks get a pointer to the context, and whose memory is cleared when it is
// freed. Null if no memory is left.
LIBSSH2_SESSION *_Nullable sshclient_session(void *context, sshclient_receive receive, sshclient_send send);

// Memory that libssh2 frees, such as that of a signature.
void *_Nullable sshclient_copy(const void *bytes, size_t count);
void sshclient_release(void *memory);

// libssh2_userauth_password_ex without a callback for expired passwords.
int sshclient_password(LIBSSH2_SESSION *session, const char *user, size_t count, const char *password, size_t length);

#pragma clang assume_nonnull end
