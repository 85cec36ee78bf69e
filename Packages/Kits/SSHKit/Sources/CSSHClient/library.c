// Opens libssh2 on first use, because most runs of a program connect to no host. The functions below have the names and
// types of libssh2's functions, so that callers see no difference. A missing function fails to link.
#include "CSSHClient.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

#define OPENED_LIBRARY "libssh2.so.1"

// Declares the opened library to packagers and tests, in the note that systemd defined for this purpose
// (https://systemd.io/ELF_DLOPEN_METADATA).
#define NOTE                                                                            \
    "[{\"feature\":\"ssh\",\"description\":\"Connections to hosts by SSH\",\"priority\":" \
    "\"recommended\",\"soname\":[\"" OPENED_LIBRARY "\"]}]"

__attribute__((used, retain, section(".note.dlopen"))) _Alignas(4) static const struct {
    uint32_t owner_size, text_size, type;
    char owner[4];
    _Alignas(4) char text[sizeof NOTE];
} note = {4, sizeof NOTE, 0x407c0c0a, "FDO", NOTE};

// Result, name, parameters, arguments.
#define FUNCTIONS(_)                                                                                                   \
    _(int, libssh2_init, (int flags), (flags))                                                                         \
    _(const char *, libssh2_version, (int number), (number))                                                           \
    _(LIBSSH2_SESSION *, libssh2_session_init_ex,                                                                      \
      (LIBSSH2_ALLOC_FUNC((*allocate)), LIBSSH2_FREE_FUNC((*release)), LIBSSH2_REALLOC_FUNC((*resize)), void *context), \
      (allocate, release, resize, context))                                                                            \
    _(void *, libssh2_session_callback_set, (LIBSSH2_SESSION * session, int kind, void *callback),                     \
      (session, kind, callback))                                                                                       \
    _(int, libssh2_session_handshake, (LIBSSH2_SESSION * session, libssh2_socket_t socket), (session, socket))         \
    _(int, libssh2_session_disconnect_ex,                                                                              \
      (LIBSSH2_SESSION * session, int reason, const char *description, const char *language),                          \
      (session, reason, description, language))                                                                        \
    _(int, libssh2_session_free, (LIBSSH2_SESSION * session), (session))                                               \
    _(const char *, libssh2_session_hostkey, (LIBSSH2_SESSION * session, size_t *count, int *type),                    \
      (session, count, type))                                                                                          \
    _(int, libssh2_session_method_pref, (LIBSSH2_SESSION * session, int kind, const char *names),                      \
      (session, kind, names))                                                                                          \
    _(int, libssh2_session_last_error, (LIBSSH2_SESSION * session, char **text, int *count, int copies),               \
      (session, text, count, copies))                                                                                  \
    _(int, libssh2_session_last_errno, (LIBSSH2_SESSION * session), (session))                                         \
    _(int, libssh2_session_flag, (LIBSSH2_SESSION * session, int flag, int value), (session, flag, value))             \
    _(void, libssh2_session_set_blocking, (LIBSSH2_SESSION * session, int blocking), (session, blocking))              \
    _(char *, libssh2_userauth_list, (LIBSSH2_SESSION * session, const char *user, unsigned count),                    \
      (session, user, count))                                                                                          \
    _(int, libssh2_userauth_authenticated, (LIBSSH2_SESSION * session), (session))                                     \
    _(int, libssh2_userauth_password_ex,                                                                               \
      (LIBSSH2_SESSION * session, const char *user, unsigned count, const char *password, unsigned length,             \
       LIBSSH2_PASSWD_CHANGEREQ_FUNC((*change))),                                                                      \
      (session, user, count, password, length, change))                                                                \
    _(int, libssh2_userauth_publickey,                                                                                 \
      (LIBSSH2_SESSION * session, const char *user, const unsigned char *key, size_t count,                            \
       LIBSSH2_USERAUTH_PUBLICKEY_SIGN_FUNC((*sign)), void **context),                                                 \
      (session, user, key, count, sign, context))                                                                      \
    _(int, libssh2_userauth_publickey_frommemory,                                                                      \
      (LIBSSH2_SESSION * session, const char *user, size_t count, const char *key, size_t size,                        \
       const char *private, size_t length, const char *passphrase),                                                    \
      (session, user, count, key, size, private, length, passphrase))                                                  \
    _(int, libssh2_userauth_keyboard_interactive_ex,                                                                   \
      (LIBSSH2_SESSION * session, const char *user, unsigned count,                                                    \
       LIBSSH2_USERAUTH_KBDINT_RESPONSE_FUNC((*respond))),                                                             \
      (session, user, count, respond))                                                                                 \
    _(LIBSSH2_CHANNEL *, libssh2_channel_open_ex,                                                                      \
      (LIBSSH2_SESSION * session, const char *type, unsigned count, unsigned window, unsigned packet,                  \
       const char *message, unsigned length),                                                                          \
      (session, type, count, window, packet, message, length))                                                         \
    _(int, libssh2_channel_process_startup,                                                                            \
      (LIBSSH2_CHANNEL * channel, const char *request, unsigned count, const char *message, unsigned length),          \
      (channel, request, count, message, length))                                                                      \
    _(ssize_t, libssh2_channel_read_ex, (LIBSSH2_CHANNEL * channel, int stream, char *to, size_t count),               \
      (channel, stream, to, count))                                                                                    \
    _(ssize_t, libssh2_channel_write_ex, (LIBSSH2_CHANNEL * channel, int stream, const char *from, size_t count),      \
      (channel, stream, from, count))                                                                                  \
    _(int, libssh2_channel_send_eof, (LIBSSH2_CHANNEL * channel), (channel))                                           \
    _(int, libssh2_channel_eof, (LIBSSH2_CHANNEL * channel), (channel))                                                \
    _(int, libssh2_channel_wait_closed, (LIBSSH2_CHANNEL * channel), (channel))                                        \
    _(int, libssh2_channel_free, (LIBSSH2_CHANNEL * channel), (channel))                                               \
    _(int, libssh2_channel_get_exit_status, (LIBSSH2_CHANNEL * channel), (channel))                                    \
    _(int, libssh2_channel_get_exit_signal,                                                                            \
      (LIBSSH2_CHANNEL * channel, char **signal, size_t *count, char **message, size_t *length, char **language,       \
       size_t *size),                                                                                                  \
      (channel, signal, count, message, length, language, size))                                                       \
    _(void, libssh2_keepalive_config, (LIBSSH2_SESSION * session, int reply, unsigned interval),                       \
      (session, reply, interval))                                                                                      \
    _(int, libssh2_keepalive_send, (LIBSSH2_SESSION * session, int *seconds), (session, seconds))

static struct table {
#define MEMBER(result, name, parameters, arguments) __typeof__(name) *name;
    FUNCTIONS(MEMBER)
} table;

// Hidden, so that libssh2 does not call these instead of its own functions.
#define FUNCTION(result, name, parameters, arguments) \
    __attribute__((visibility("hidden"))) result name parameters { return table.name arguments; }
FUNCTIONS(FUNCTION)

// ISO C cannot cast an object pointer to a function pointer; POSIX guarantees that both have the same representation.
static int find(void *library, const char *name, void *function) {
    return (*(void **)function = dlsym(library, name)) != NULL;
}

const char *sshclient_open(const char *path) {
    static char reason[200];
    void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (!library) return dlerror();
    struct table found;
    const char *missing = NULL;
#define FIND(result, name, parameters, arguments) \
    if (!find(library, #name, &found.name)) missing = #name;
    FUNCTIONS(FIND)
    if (missing) {
        dlclose(library);
        snprintf(reason, sizeof reason, "%s has no %s", path, missing);
        return reason;
    }
    table = found;
    return NULL;
}

const char *sshclient_library(void) { return OPENED_LIBRARY; }
