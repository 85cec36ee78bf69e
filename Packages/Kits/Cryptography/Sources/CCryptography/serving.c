#define _GNU_SOURCE
#include "CCryptography.h"

#include <errno.h>
#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/socket.h>

static int choose_protocol(
    SSL *session, const unsigned char **chosen, unsigned char *count, const unsigned char *offered, unsigned length,
    void *argument
) {
    (void)session, (void)argument;
    static const unsigned char ours[] = "\x08http/1.1";
    int result = SSL_select_next_proto((unsigned char **)chosen, count, ours, sizeof ours - 1, offered, length);
    // RFC 7301: a server that supports none of the protocols offered ends the handshake.
    return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

SSL_CTX *ccryptography_server_context(void) {
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    if (!context) return NULL;
    if (!SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION)) {
        SSL_CTX_free(context);
        return NULL;
    }
    // Clients keep their connections open, so resuming sessions would save little and need state on the server.
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(context, 0);
    SSL_CTX_set_options(
        context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    // Idle connections free their buffers, and a write may be repeated from another address.
    SSL_CTX_set_mode(
        context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_alpn_select_cb(context, choose_protocol, NULL);
    return context;
}

int ccryptography_add_chain(SSL_CTX *context, X509 *certificate) {
    return (int)SSL_CTX_add1_chain_cert(context, certificate);
}

int ccryptography_demand_client(SSL_CTX *context, X509 *authority) {
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    return X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority)
        && SSL_CTX_add_client_CA(context, authority);
}

// A custom BIO, because the library's BIO uses write(), which raises SIGPIPE when the peer is gone.

static int descriptor_of(BIO *bio) { return (int)(intptr_t)BIO_get_data(bio); }

static int socket_read(BIO *bio, char *buffer, int count) {
    BIO_clear_retry_flags(bio);
    ssize_t got;
    do got = recv(descriptor_of(bio), buffer, (size_t)count, MSG_DONTWAIT);
    while (got < 0 && errno == EINTR);
    if (got == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) BIO_set_retry_read(bio);
    return (int)got;
}

static int socket_write(BIO *bio, const char *buffer, int count) {
    BIO_clear_retry_flags(bio);
    ssize_t sent;
    do sent = send(descriptor_of(bio), buffer, (size_t)count, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) BIO_set_retry_write(bio);
    return (int)sent;
}

static long socket_control(BIO *bio, int command, long number, void *argument) {
    (void)number, (void)argument;
    switch (command) {
    case BIO_CTRL_FLUSH: return 1;
    // The library uses this to detect a truncated connection.
    case BIO_CTRL_EOF: return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0;
    default: return 0;
    }
}

static BIO_METHOD *socket_method;
static pthread_once_t socket_once = PTHREAD_ONCE_INIT;

static void make_method(void) {
    BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "martlet socket");
    if (!method) return;
    BIO_meth_set_read(method, socket_read);
    BIO_meth_set_write(method, socket_write);
    BIO_meth_set_ctrl(method, socket_control);
    socket_method = method;
}

int ccryptography_use_socket(SSL *session, int descriptor) {
    pthread_once(&socket_once, make_method);
    BIO *bio = socket_method ? BIO_new(socket_method) : NULL;
    if (!bio) return 0;
    BIO_set_data(bio, (void *)(intptr_t)descriptor);
    BIO_set_init(bio, 1);
    SSL_set_bio(session, bio, bio);
    return 1;
}
