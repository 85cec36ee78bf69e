#define _GNU_SOURCE
#include "library.h"

#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

CURLcode httpclient_set_long(CURL *easy, CURLoption option, long value) {
    return httpclient_functions.easy_setopt(easy, option, value);
}

CURLcode httpclient_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return httpclient_functions.easy_setopt(easy, option, value);
}

CURLcode httpclient_set_string(CURL *easy, CURLoption option, const char *value) {
    return httpclient_functions.easy_setopt(easy, option, value);
}

CURLcode httpclient_set_pointer(CURL *easy, CURLoption option, const void *value) {
    return httpclient_functions.easy_setopt(easy, option, value);
}

CURLcode httpclient_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return httpclient_functions.easy_setopt(easy, option, value);
}

CURLcode httpclient_set_blob(CURL *easy, CURLoption option, const void *bytes, size_t count) {
    struct curl_blob blob = {.data = (void *)bytes, .len = count, .flags = CURL_BLOB_COPY};
    return httpclient_functions.easy_setopt(easy, option, &blob);
}

static CURLcode both(CURLcode first, CURLcode second) {
    return first != CURLE_OK ? first : second;
}

CURLcode httpclient_set_write(CURL *easy, curl_write_callback callback, void *context) {
    return both(httpclient_functions.easy_setopt(easy, CURLOPT_WRITEFUNCTION, callback),
                httpclient_functions.easy_setopt(easy, CURLOPT_WRITEDATA, context));
}

CURLcode httpclient_set_header(CURL *easy, curl_write_callback callback, void *context) {
    return both(httpclient_functions.easy_setopt(easy, CURLOPT_HEADERFUNCTION, callback),
                httpclient_functions.easy_setopt(easy, CURLOPT_HEADERDATA, context));
}

CURLcode httpclient_set_read(CURL *easy, curl_read_callback callback, void *context) {
    return both(httpclient_functions.easy_setopt(easy, CURLOPT_READFUNCTION, callback),
                httpclient_functions.easy_setopt(easy, CURLOPT_READDATA, context));
}

CURLcode httpclient_set_seek(CURL *easy, curl_seek_callback callback, void *context) {
    return both(httpclient_functions.easy_setopt(easy, CURLOPT_SEEKFUNCTION, callback),
                httpclient_functions.easy_setopt(easy, CURLOPT_SEEKDATA, context));
}

CURLcode httpclient_set_prerequest(CURL *easy, curl_prereq_callback callback, void *context) {
    return both(httpclient_functions.easy_setopt(easy, CURLOPT_PREREQFUNCTION, callback),
                httpclient_functions.easy_setopt(easy, CURLOPT_PREREQDATA, context));
}

CURLcode httpclient_set_open_socket(CURL *easy, curl_opensocket_callback callback, void *context) {
    return both(httpclient_functions.easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, callback),
                httpclient_functions.easy_setopt(easy, CURLOPT_OPENSOCKETDATA, context));
}

curl_socket_t httpclient_open_socket(const struct curl_sockaddr *address) {
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

int httpclient_address(const struct curl_sockaddr *address, char *text, size_t count) {
    if (address->family == AF_INET) {
        const struct sockaddr_in *inet = (const struct sockaddr_in *)&address->addr;
        return inet_ntop(AF_INET, &inet->sin_addr, text, (socklen_t)count) ? ntohs(inet->sin_port) : 0;
    }
    if (address->family == AF_INET6) {
        const struct sockaddr_in6 *inet = (const struct sockaddr_in6 *)&address->addr;
        return inet_ntop(AF_INET6, &inet->sin6_addr, text, (socklen_t)count) ? ntohs(inet->sin6_port) : 0;
    }
    return 0;
}

CURLcode httpclient_set_debug(CURL *easy, curl_debug_callback callback, void *context) {
    return both(both(httpclient_functions.easy_setopt(easy, CURLOPT_DEBUGFUNCTION, callback),
                     httpclient_functions.easy_setopt(easy, CURLOPT_DEBUGDATA, context)),
                httpclient_functions.easy_setopt(easy, CURLOPT_VERBOSE, 1L));
}

CURLcode httpclient_set_tls(CURL *easy, curl_ssl_ctx_callback callback, void *context) {
    return both(httpclient_functions.easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, callback),
                httpclient_functions.easy_setopt(easy, CURLOPT_SSL_CTX_DATA, context));
}

long httpclient_get_long(CURL *easy, CURLINFO info) {
    long value = 0;
    return httpclient_functions.easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

curl_off_t httpclient_get_offset(CURL *easy, CURLINFO info) {
    curl_off_t value = 0;
    return httpclient_functions.easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

const char *httpclient_get_string(CURL *easy, CURLINFO info) {
    char *value = NULL;
    return httpclient_functions.easy_getinfo(easy, info, &value) == CURLE_OK ? value : NULL;
}

void *httpclient_get_pointer(CURL *easy, CURLINFO info) {
    void *value = NULL;
    return httpclient_functions.easy_getinfo(easy, info, &value) == CURLE_OK ? value : NULL;
}

int httpclient_get_socket(CURL *easy, CURLINFO info) {
    curl_socket_t value = CURL_SOCKET_BAD;
    return httpclient_functions.easy_getinfo(easy, info, &value) == CURLE_OK ? value : CURL_SOCKET_BAD;
}

CURLMcode httpclient_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return httpclient_functions.multi_setopt(multi, option, value);
}

CURLUcode httpclient_url_get(CURLU *url, CURLUPart part, char **text, unsigned flags) {
    return httpclient_functions.url_get(url, part, text, flags);
}

int httpclient_next_finished(CURLM *multi, CURL **easy, CURLcode *result) {
    int left = 0;
    for (CURLMsg *message; (message = curl_multi_info_read(multi, &left));) {
        if (message->msg != CURLMSG_DONE) continue;
        *easy = message->easy_handle;
        *result = message->data.result;
        return 1;
    }
    return 0;
}

int httpclient_tls_is_proxy(void *context) {
    return SSL_CTX_get_max_proto_version((SSL_CTX *)context) != 0;
}
