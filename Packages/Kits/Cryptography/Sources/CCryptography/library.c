// Opens libssl and libcrypto when one of their functions is first called. Most commands call none, and loading them
// takes up to a fifth of the time of such a command.
#include "CCryptography.h"
#include "functions.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define OPENED_LIBRARY "libssl.so.3"

// Declares the opened library for packagers and tests, in the ELF note that systemd has defined
// (https://systemd.io/ELF_DLOPEN_METADATA).
#define NOTE                                                                              \
    "[{\"feature\":\"cryptography\",\"description\":\"Digests, sealing and TLS\","        \
    "\"priority\":\"required\",\"soname\":[\"" OPENED_LIBRARY "\"]}]"

__attribute__((used, retain, section(".note.dlopen"))) _Alignas(4) static const struct {
    uint32_t owner_size, text_size, type;
    char owner[4];
    _Alignas(4) char text[sizeof NOTE];
} note = {4, sizeof NOTE, 0x407c0c0a, "FDO", NOTE};

#define NAME(name) #name,
static const char *const names[] = {CALLED_FUNCTIONS(NAME)};
enum { count = sizeof names / sizeof *names };

// The address of each function, in the order of their names. Null until its first call.
__attribute__((visibility("hidden"))) void *ccryptography_found[count];

static void *library;
static char problem[300];

// The library is never closed, because its objects may be in use until the end. It loads libcrypto too.
static void open_library(void) {
    library = dlopen(OPENED_LIBRARY, RTLD_LAZY | RTLD_LOCAL);
    if (!library) snprintf(problem, sizeof problem, "%s", dlerror());
}

static void *find(int index) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_library);
    return library ? dlsym(library, names[index]) : NULL;
}

// Called by the stubs. Ends the process when the function is missing, as the loader does for a missing library, because
// the caller cannot continue.
__attribute__((visibility("hidden"))) void *ccryptography_find(int index) {
    void *function = find(index);
    if (!function) {
        const char *reason = library ? "it has no " : problem;
        fprintf(
            stderr, "libssl cannot be used: %s%s; install OpenSSL 3 (Debian: apt install libssl3)\n", reason,
            library ? names[index] : "");
        _exit(127);
    }
    __atomic_store_n(&ccryptography_found[index], function, __ATOMIC_RELEASE);
    return function;
}

const char *ccryptography_problem(void) {
    static _Thread_local char missing[100];
    for (int index = 0; index < count; index++) {
        if (find(index)) continue;
        if (!library) return problem;
        snprintf(missing, sizeof missing, "it has no %s", names[index]);
        return missing;
    }
    return NULL;
}
