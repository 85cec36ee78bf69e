#include "CCryptography.h"

#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <pthread.h>
#include <stdlib.h>

static int record(int ok, X509_STORE_CTX *context) {
    struct ccryptography_defects *defects = X509_STORE_CTX_get_app_data(context);
    size_t room = sizeof defects->found / sizeof defects->found[0];
    if (!ok && defects && (size_t)defects->count < room) {
        struct ccryptography_defect *defect = &defects->found[defects->count++];
        defect->error = X509_STORE_CTX_get_error(context);
        defect->depth = X509_STORE_CTX_get_error_depth(context);
    }
    return 1;
}

int ccryptography_verify(X509_STORE_CTX *context, struct ccryptography_defects *defects) {
    defects->count = 0;
    X509_STORE_CTX_set_app_data(context, defects);
    X509_STORE_CTX_set_verify_cb(context, record);
    int result = X509_verify_cert(context);
    X509_STORE_CTX_set_app_data(context, NULL);
    return result;
}

int ccryptography_sent_count(X509_STORE_CTX *context) {
    int count = sk_X509_num(X509_STORE_CTX_get0_untrusted(context));
    return count < 0 ? 0 : count;
}

X509 *ccryptography_sent(X509_STORE_CTX *context, int index) {
    return sk_X509_value(X509_STORE_CTX_get0_untrusted(context), index);
}

int ccryptography_built_count(X509_STORE_CTX *context) {
    int count = sk_X509_num(X509_STORE_CTX_get0_chain(context));
    return count < 0 ? 0 : count;
}

X509 *ccryptography_built(X509_STORE_CTX *context, int index) {
    return sk_X509_value(X509_STORE_CTX_get0_chain(context), index);
}

// The context owns a reference to the judge: a pool of connections can keep a context after its first transfer ended.

struct owned {
    void *object;
    void (*release)(void *object);
};

static int owned_index = -1;
static pthread_once_t owned_once = PTHREAD_ONCE_INIT;

static void let_go(void *parent, void *value, CRYPTO_EX_DATA *data, int index, long number, void *argument) {
    (void)parent, (void)data, (void)index, (void)number, (void)argument;
    struct owned *owned = value;
    if (!owned) return;
    owned->release(owned->object);
    free(owned);
}

static void make_index(void) { owned_index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, let_go); }

int ccryptography_judge_servers(
    SSL_CTX *context, void *object, void (*release)(void *), int (*judge)(X509_STORE_CTX *, void *)
) {
    // Before the object is owned, so that the caller keeps it on every failure.
    if (SSL_CTX_get_min_proto_version(context) < TLS1_2_VERSION)
        SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    // A context for a single version accepts the bound without an error, but ignores it.
    if (SSL_CTX_get_min_proto_version(context) < TLS1_2_VERSION) return 0;
    struct owned *owned = malloc(sizeof *owned);
    pthread_once(&owned_once, make_index);
    if (owned_index < 0 || !owned) {
        free(owned);
        return 0;
    }
    owned->object = object;
    owned->release = release;
    void *earlier = SSL_CTX_get_ex_data(context, owned_index);
    if (!SSL_CTX_set_ex_data(context, owned_index, owned)) {
        free(owned);
        return 0;
    }
    let_go(NULL, earlier, NULL, owned_index, 0, NULL);
    SSL_CTX_set_cert_verify_callback(context, judge, object);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    // A resumed session shows no certificate, so there would be nothing to judge.
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
    return 1;
}
