#define _GNU_SOURCE
#include "CAuthVault.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

// The few declarations of libsecret (0.19 or later) and GLib 2 that are used here, so that building needs no
// development package. The types are those of the public, stable interface.

typedef struct { uint32_t domain; int code; char *message; } GError;
typedef struct GList { void *data; struct GList *next; struct GList *prev; } GList;
typedef struct GHashTable GHashTable;
typedef struct GCancellable GCancellable;
typedef struct { const char *name; int type; } SecretSchemaAttribute;
typedef struct {
    const char *name;
    int flags;
    SecretSchemaAttribute attributes[32];
    int reserved;
    void *reserved_pointers[7];
} SecretSchema;

enum { SEARCH_ALL = 1 << 1, SEARCH_UNLOCK = 1 << 2, SEARCH_LOAD_SECRETS = 1 << 3 };

static const SecretSchema schema = {
    .name = "org.martlet.Secret",
    .attributes = {{.name = "name", .type = 0 /* a string */}},
};

struct authvault_desktop {
    GHashTable *(*g_hash_table_new)(unsigned (*)(const void *), int (*)(const void *, const void *));
    int (*g_hash_table_insert)(GHashTable *, void *, void *);
    void *(*g_hash_table_lookup)(GHashTable *, const void *);
    void (*g_hash_table_unref)(GHashTable *);
    unsigned (*g_str_hash)(const void *);
    int (*g_str_equal)(const void *, const void *);
    void (*g_list_free)(GList *);
    void (*g_error_free)(GError *);
    void (*g_object_unref)(void *);
    GCancellable *(*g_cancellable_new)(void);
    void (*g_cancellable_cancel)(GCancellable *);
    int (*secret_password_storev_sync)(
        const SecretSchema *, GHashTable *, const char *, const char *, const char *, GCancellable *, GError **);
    int (*secret_password_clearv_sync)(const SecretSchema *, GHashTable *, GCancellable *, GError **);
    GList *(*secret_password_searchv_sync)(const SecretSchema *, GHashTable *, int, GCancellable *, GError **);
    GHashTable *(*secret_retrievable_get_attributes)(void *);
    void *(*secret_retrievable_retrieve_secret_sync)(void *, GCancellable *, GError **);
    const char *(*secret_value_get_text)(void *);
    void (*secret_value_unref)(void *);
};

struct authvault_call {
    struct authvault_desktop *desktop;
    GCancellable *cancellable;
    GError *error;
};

static struct authvault_desktop loaded;
static bool is_loaded;

static void load(void) {
    // Symbols of GLib, GObject and GIO are found through libsecret, which depends on them.
    void *library = dlopen("libsecret-1.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return;
    bool complete = true;
#define FIND(name) complete = (*(void **)&loaded.name = dlsym(library, #name)) && complete
    FIND(g_hash_table_new);
    FIND(g_hash_table_insert);
    FIND(g_hash_table_lookup);
    FIND(g_hash_table_unref);
    FIND(g_str_hash);
    FIND(g_str_equal);
    FIND(g_list_free);
    FIND(g_error_free);
    FIND(g_object_unref);
    FIND(g_cancellable_new);
    FIND(g_cancellable_cancel);
    FIND(secret_password_storev_sync);
    FIND(secret_password_clearv_sync);
    FIND(secret_password_searchv_sync);
    FIND(secret_retrievable_get_attributes);
    FIND(secret_retrievable_retrieve_secret_sync);
    FIND(secret_value_get_text);
    FIND(secret_value_unref);
#undef FIND
    is_loaded = complete;
}

struct authvault_desktop *authvault_desktop_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return is_loaded ? &loaded : NULL;
}

struct authvault_call *authvault_call_new(struct authvault_desktop *desktop) {
    struct authvault_call *call = calloc(1, sizeof *call);
    if (!call)
        return NULL;
    call->desktop = desktop;
    call->cancellable = desktop->g_cancellable_new();
    return call;
}

void authvault_call_cancel(struct authvault_call *call) { call->desktop->g_cancellable_cancel(call->cancellable); }

void authvault_call_free(struct authvault_call *call) {
    if (!call)
        return;
    if (call->error)
        call->desktop->g_error_free(call->error);
    call->desktop->g_object_unref(call->cancellable);
    free(call);
}

const char *authvault_call_error(const struct authvault_call *call) {
    return call->error ? call->error->message : NULL;
}

static GHashTable *attributes(struct authvault_desktop *desktop, const char *name) {
    GHashTable *table = desktop->g_hash_table_new(desktop->g_str_hash, desktop->g_str_equal);
    if (name)
        desktop->g_hash_table_insert(table, "name", (void *)name);
    return table;
}

bool authvault_store(struct authvault_call *call, const char *name, const char *label, const char *secret) {
    struct authvault_desktop *desktop = call->desktop;
    GHashTable *table = attributes(desktop, name);
    bool stored = desktop->secret_password_storev_sync(
        &schema, table, NULL, label, secret, call->cancellable, &call->error);
    desktop->g_hash_table_unref(table);
    return stored && !call->error;
}

bool authvault_clear(struct authvault_call *call, const char *name) {
    struct authvault_desktop *desktop = call->desktop;
    GHashTable *table = attributes(desktop, name);
    desktop->secret_password_clearv_sync(&schema, table, call->cancellable, &call->error);
    desktop->g_hash_table_unref(table);
    return !call->error;
}

static void visit_item(
    struct authvault_call *call, void *item, bool unlock, void *context,
    void (*visit)(void *, const char *, const char *)) {
    struct authvault_desktop *desktop = call->desktop;
    GHashTable *table = desktop->secret_retrievable_get_attributes(item);
    const char *name = table ? desktop->g_hash_table_lookup(table, "name") : NULL;
    GError *ignored = NULL; // An item that stays locked is reported without a secret.
    void *value = name && unlock
        ? desktop->secret_retrievable_retrieve_secret_sync(item, call->cancellable, &ignored) : NULL;
    if (name)
        visit(context, name, value ? desktop->secret_value_get_text(value) : NULL);
    if (value)
        desktop->secret_value_unref(value);
    if (ignored)
        desktop->g_error_free(ignored);
    if (table)
        desktop->g_hash_table_unref(table);
}

bool authvault_search(
    struct authvault_call *call, const char *name, bool unlock, void *context,
    void (*visit)(void *, const char *, const char *)) {
    struct authvault_desktop *desktop = call->desktop;
    GHashTable *table = attributes(desktop, name);
    int flags = SEARCH_ALL | (unlock ? SEARCH_UNLOCK | SEARCH_LOAD_SECRETS : 0);
    GList *items = desktop->secret_password_searchv_sync(&schema, table, flags, call->cancellable, &call->error);
    desktop->g_hash_table_unref(table);
    for (GList *item = items; item; item = item->next) {
        visit_item(call, item->data, unlock, context, visit);
        desktop->g_object_unref(item->data);
    }
    desktop->g_list_free(items);
    return !call->error;
}
