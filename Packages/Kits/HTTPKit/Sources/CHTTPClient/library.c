// Opens libcurl on first use: its thirty dependencies take longer to load than the rest of a program that sends
// nothing. The functions below have the names and types of libcurl's functions, so that callers see no difference. A
// missing function fails to link.
#include "library.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

#define OPENED_LIBRARY "libcurl.so.4"

#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

// Declares the opened library to packagers and tests, in the note that systemd defined for this purpose
// (https://systemd.io/ELF_DLOPEN_METADATA).
#define NOTE                                                                          \
    "[{\"feature\":\"http\",\"description\":\"Requests to servers\",\"priority\":"    \
    "\"required\",\"soname\":[\"" OPENED_LIBRARY "\"]}]"

__attribute__((used, retain, section(".note.dlopen"))) _Alignas(4) static const struct {
    uint32_t owner_size, text_size, type;
    char owner[4];
    _Alignas(4) char text[sizeof NOTE];
} note = {4, sizeof NOTE, 0x407c0c0a, "FDO", NOTE};

// Result, name, parameters, arguments.
#define FUNCTIONS(_)                                                                                                   \
    _(CURLcode, curl_global_init, (long flags), (flags))                                                               \
    _(curl_version_info_data *, curl_version_info, (CURLversion version), (version))                                   \
    _(CURL *, curl_easy_init, (void), ())                                                                              \
    _(void, curl_easy_cleanup, (CURL * easy), (easy))                                                                  \
    _(void, curl_easy_reset, (CURL * easy), (easy))                                                                    \
    _(CURLcode, curl_easy_pause, (CURL * easy, int mask), (easy, mask))                                                \
    _(CURLcode, curl_easy_recv, (CURL * easy, void *to, size_t size, size_t *count), (easy, to, size, count))          \
    _(CURLcode, curl_easy_send, (CURL * easy, const void *from, size_t size, size_t *count),                           \
      (easy, from, size, count))                                                                                       \
    _(const char *, curl_easy_strerror, (CURLcode code), (code))                                                       \
    _(struct curl_slist *, curl_slist_append, (struct curl_slist * list, const char *text), (list, text))              \
    _(void, curl_slist_free_all, (struct curl_slist * list), (list))                                                   \
    _(CURLM *, curl_multi_init, (void), ())                                                                            \
    _(CURLMcode, curl_multi_cleanup, (CURLM * multi), (multi))                                                         \
    _(CURLMcode, curl_multi_add_handle, (CURLM * multi, CURL *easy), (multi, easy))                                    \
    _(CURLMcode, curl_multi_remove_handle, (CURLM * multi, CURL *easy), (multi, easy))                                 \
    _(CURLMcode, curl_multi_perform, (CURLM * multi, int *running), (multi, running))                                  \
    _(CURLMsg *, curl_multi_info_read, (CURLM * multi, int *left), (multi, left))                                      \
    _(CURLMcode, curl_multi_wakeup, (CURLM * multi), (multi))                                                          \
    _(CURLMcode, curl_multi_poll,                                                                                      \
      (CURLM * multi, struct curl_waitfd * more, unsigned count, int milliseconds, int *ready),                        \
      (multi, more, count, milliseconds, ready))                                                                       \
    _(CURLU *, curl_url, (void), ())                                                                                   \
    _(void, curl_url_cleanup, (CURLU * url), (url))                                                                    \
    _(CURLUcode, curl_url_set, (CURLU * url, CURLUPart part, const char *text, unsigned flags),                        \
      (url, part, text, flags))                                                                                        \
    _(const char *, curl_url_strerror, (CURLUcode code), (code))                                                       \
    _(void, curl_free, (void *memory), (memory))                                                                       \
    _(time_t, curl_getdate, (const char *text, const time_t *unused), (text, unused))

struct httpclient_functions httpclient_functions;

static struct table {
#define MEMBER(result, name, parameters, arguments) __typeof__(name) *name;
    FUNCTIONS(MEMBER)
} table;

// Hidden, so that libcurl does not call these instead of its own functions.
#define FUNCTION(result, name, parameters, arguments) \
    __attribute__((visibility("hidden"))) result name parameters { return table.name arguments; }
FUNCTIONS(FUNCTION)

// ISO C cannot cast an object pointer to a function pointer; POSIX guarantees that both have the same representation.
static int find(void *library, const char *name, void *function) {
    return (*(void **)function = dlsym(library, name)) != NULL;
}

const char *httpclient_open(const char *path) {
    static char reason[200];
    void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (!library) return dlerror();
    struct table found;
    struct httpclient_functions others;
    const char *missing = NULL;
#define FIND(result, name, parameters, arguments) \
    if (!find(library, #name, &found.name)) missing = #name;
    FUNCTIONS(FIND)
    if (!find(library, "curl_easy_setopt", &others.easy_setopt)) missing = "curl_easy_setopt";
    if (!find(library, "curl_easy_getinfo", &others.easy_getinfo)) missing = "curl_easy_getinfo";
    if (!find(library, "curl_multi_setopt", &others.multi_setopt)) missing = "curl_multi_setopt";
    if (!find(library, "curl_url_get", &others.url_get)) missing = "curl_url_get";
    if (missing) {
        dlclose(library);
        snprintf(reason, sizeof reason, "%s has no %s", path, missing);
        return reason;
    }
    table = found;
    httpclient_functions = others;
    return NULL;
}

void httpclient_load(void) { dlopen(OPENED_LIBRARY, RTLD_LAZY | RTLD_LOCAL); }

const char *httpclient_library(void) { return OPENED_LIBRARY; }
