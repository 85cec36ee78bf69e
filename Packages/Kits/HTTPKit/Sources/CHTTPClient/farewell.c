#include "library.h"

#include <openssl/ssl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct httpclient_farewell {
    atomic_int owners;
    atomic_int heard;
};

static int slot = -1;
static pthread_once_t once = PTHREAD_ONCE_INIT;

void httpclient_farewell_release(struct httpclient_farewell *farewell) {
    if (atomic_fetch_sub(&farewell->owners, 1) == 1) free(farewell);
}

static void on_free(void *parent, void *value, CRYPTO_EX_DATA *data, int index, long word, void *pointer) {
    (void)parent, (void)data, (void)index, (void)word, (void)pointer;
    if (value) httpclient_farewell_release(value);
}

static void make_slot(void) {
    slot = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, on_free);
}

static void on_event(const SSL *connection, int where, int value) {
    if (where != SSL_CB_READ_ALERT || (value & 0xff) != SSL_AD_CLOSE_NOTIFY) return;
    struct httpclient_farewell *farewell = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(connection), slot);
    if (farewell) atomic_store(&farewell->heard, 1);
}

// libcurl creates one context for each connection, so a close_notify seen on the context belongs to the connection.
int httpclient_farewell_watch(void *context) {
    pthread_once(&once, make_slot);
    struct httpclient_farewell *farewell = slot < 0 ? NULL : calloc(1, sizeof *farewell);
    if (!farewell) return 0;
    atomic_init(&farewell->owners, 1);
    if (!SSL_CTX_set_ex_data(context, slot, farewell)) {
        free(farewell);
        return 0;
    }
    SSL_CTX_set_info_callback(context, on_event);
    return 1;
}

struct httpclient_farewell *httpclient_farewell_of(CURL *easy) {
    struct curl_tlssessioninfo *info = NULL;
    if (httpclient_functions.easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &info) != CURLE_OK || !info || !info->internals) return NULL;
    struct httpclient_farewell *farewell = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(info->internals), slot);
    if (farewell) atomic_fetch_add(&farewell->owners, 1);
    return farewell;
}

int httpclient_farewell_was_heard(struct httpclient_farewell *farewell) {
    return atomic_load(&farewell->heard);
}
