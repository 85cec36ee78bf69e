// Access to parts of libcurl that Swift cannot use: variadic functions, by argument type; a union; and two macros.
//
// Swift imports only this module, which exports all of libcurl. libcurl is not linked but opened: none of its functions
// may be called before httpclient_open has returned null.
#pragma once

#include <curl/curl.h>

#pragma clang assume_nonnull begin

// Opens libcurl and finds its functions, once for each process; returns null, or why it cannot be used.
const char *_Nullable httpclient_open(const char *path);
// Loads libcurl without using it, so that opening it is fast later. Safe on any thread, also while the process ends: it
// waits for the loader, and only the loader runs code of the library.
void httpclient_load(void);
// The system's name of the libcurl that these headers belong to.
const char *httpclient_library(void);

// curl_easy_setopt by type. curl copies strings and keeps lists.
CURLcode httpclient_set_long(CURL *easy, CURLoption option, long value);
CURLcode httpclient_set_offset(CURL *easy, CURLoption option, curl_off_t value);
CURLcode httpclient_set_string(CURL *easy, CURLoption option, const char *_Nullable value);
CURLcode httpclient_set_pointer(CURL *easy, CURLoption option, const void *_Nullable value);
CURLcode httpclient_set_list(CURL *easy, CURLoption option, struct curl_slist *_Nullable value);
// curl copies the bytes.
CURLcode httpclient_set_blob(CURL *easy, CURLoption option, const void *bytes, size_t count);

// The callbacks, each with its context. The types are libcurl's.
CURLcode httpclient_set_write(CURL *easy, curl_write_callback _Nullable callback, void *_Nullable context);
CURLcode httpclient_set_header(CURL *easy, curl_write_callback _Nullable callback, void *_Nullable context);
CURLcode httpclient_set_read(CURL *easy, curl_read_callback _Nullable callback, void *_Nullable context);
CURLcode httpclient_set_seek(CURL *easy, curl_seek_callback _Nullable callback, void *_Nullable context);
CURLcode httpclient_set_prerequest(CURL *easy, curl_prereq_callback _Nullable callback, void *_Nullable context);
CURLcode httpclient_set_open_socket(CURL *easy, curl_opensocket_callback _Nullable callback, void *_Nullable context);
// Opens the socket as libcurl does; -1 on failure.
curl_socket_t httpclient_open_socket(const struct curl_sockaddr *address);
// Writes the IP address without its port and returns the port; 0 if it is not an Internet address.
int httpclient_address(const struct curl_sockaddr *address, char *text, size_t count);
// Also enables libcurl's verbose mode, without which the callback is not called.
CURLcode httpclient_set_debug(CURL *easy, curl_debug_callback _Nullable callback, void *_Nullable context);
CURLcode httpclient_set_tls(CURL *easy, curl_ssl_ctx_callback _Nullable callback, void *_Nullable context);

// curl_easy_getinfo by type; 0 or null when curl does not know.
long httpclient_get_long(CURL *easy, CURLINFO info);
curl_off_t httpclient_get_offset(CURL *easy, CURLINFO info);
const char *_Nullable httpclient_get_string(CURL *easy, CURLINFO info);
void *_Nullable httpclient_get_pointer(CURL *easy, CURLINFO info);
// A socket has 4 bytes, so reading it as a long would leave half of it undefined. -1 without a socket.
int httpclient_get_socket(CURL *easy, CURLINFO info);

CURLMcode httpclient_multi_set_long(CURLM *multi, CURLMoption option, long value);

// curl_url_get, whose first argument is const in newer versions.
CURLUcode httpclient_url_get(CURLU *url, CURLUPart part, char *_Nullable *_Nonnull text, unsigned flags);

// Takes the next finished transfer from the multi handle; 0 when there is none.
int httpclient_next_finished(CURLM *multi, CURL *_Nullable *_Nonnull easy, CURLcode *result);

// Whether the TLS context belongs to a proxy: only a proxy's maximum version is set explicitly.
int httpclient_tls_is_proxy(void *context);

// Whether a server sent close_notify on a TLS connection before ending it. libcurl 7.88 accepts any end as the end of
// the response, so an attacker who can cut connections could shorten responses without a length.
struct httpclient_farewell;

// Starts listening on all connections of the TLS context. 0 when no memory is left.
int httpclient_farewell_watch(void *context);
// Returns the listener on the transfer's connection. Call this while the transfer runs, and release the result later.
struct httpclient_farewell *_Nullable httpclient_farewell_of(CURL *easy);
int httpclient_farewell_was_heard(struct httpclient_farewell *farewell);
void httpclient_farewell_release(struct httpclient_farewell *farewell);

#pragma clang assume_nonnull end
