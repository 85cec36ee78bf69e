// Opens libcmark-gfm on first use: only what draws Markdown needs it, and most commands draw none. The functions below
// have the names and types of the library's functions, so that callers see no difference. A missing function fails to
// link.
#include "CTerminalKit.h"

// Otherwise the headers declare the functions as visible.
#define CMARK_GFM_STATIC_DEFINE
#define CMARK_GFM_EXTENSIONS_STATIC_DEFINE

#include <cmark-gfm.h>
#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm_version.h>
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// The extensions, which load libcmark-gfm too. The soname carries the full version, because the layout of the library's
// structures, which are used, belongs to it.
#define OPENED_LIBRARY "libcmark-gfm-extensions.so." CMARK_GFM_VERSION_STRING

// Declares the opened library for packagers and tests, in the ELF note that systemd has defined
// (https://systemd.io/ELF_DLOPEN_METADATA).
#define NOTE                                                                        \
    "[{\"feature\":\"markdown\",\"description\":\"Markdown drawn on a terminal\","  \
    "\"priority\":\"recommended\",\"soname\":[\"" OPENED_LIBRARY "\"]}]"

__attribute__((used, retain, section(".note.dlopen"))) _Alignas(4) static const struct {
    uint32_t owner_size, text_size, type;
    char owner[4];
    _Alignas(4) char text[sizeof NOTE];
} note = {4, sizeof NOTE, 0x407c0c0a, "FDO", NOTE};

// Result, name, parameters, arguments.
#define FUNCTIONS(_)                                                                                                   \
    _(const char *, cmark_version_string, (void), ())                                                                  \
    _(void, cmark_gfm_core_extensions_ensure_registered, (void), ())                                                   \
    _(cmark_syntax_extension *, cmark_find_syntax_extension, (const char *name), (name))                               \
    _(cmark_parser *, cmark_parser_new, (int options), (options))                                                      \
    _(int, cmark_parser_attach_syntax_extension, (cmark_parser * parser, cmark_syntax_extension *extension),           \
      (parser, extension))                                                                                             \
    _(void, cmark_parser_feed, (cmark_parser * parser, const char *buffer, size_t length), (parser, buffer, length))   \
    _(cmark_node *, cmark_parser_finish, (cmark_parser * parser), (parser))                                            \
    _(void, cmark_parser_free, (cmark_parser * parser), (parser))                                                      \
    _(void, cmark_node_free, (cmark_node * node), (node))                                                              \
    _(cmark_node *, cmark_node_next, (cmark_node * node), (node))                                                      \
    _(cmark_node *, cmark_node_parent, (cmark_node * node), (node))                                                    \
    _(cmark_node *, cmark_node_first_child, (cmark_node * node), (node))                                               \
    _(cmark_node *, cmark_node_last_child, (cmark_node * node), (node))                                                \
    _(cmark_node_type, cmark_node_get_type, (cmark_node * node), (node))                                               \
    _(const char *, cmark_node_get_type_string, (cmark_node * node), (node))                                           \
    _(const char *, cmark_node_get_literal, (cmark_node * node), (node))                                               \
    _(const char *, cmark_node_get_url, (cmark_node * node), (node))                                                   \
    _(const char *, cmark_node_get_title, (cmark_node * node), (node))                                                 \
    _(const char *, cmark_node_get_fence_info, (cmark_node * node), (node))                                            \
    _(int, cmark_node_get_fenced, (cmark_node * node, int *length, int *offset, char *character),                      \
      (node, length, offset, character))                                                                               \
    _(int, cmark_node_get_heading_level, (cmark_node * node), (node))                                                  \
    _(int, cmark_node_get_start_line, (cmark_node * node), (node))                                                     \
    _(cmark_list_type, cmark_node_get_list_type, (cmark_node * node), (node))                                          \
    _(cmark_delim_type, cmark_node_get_list_delim, (cmark_node * node), (node))                                        \
    _(int, cmark_node_get_list_start, (cmark_node * node), (node))                                                     \
    _(int, cmark_node_get_list_tight, (cmark_node * node), (node))                                                     \
    _(bool, cmark_gfm_extensions_get_tasklist_item_checked, (cmark_node * node), (node))                               \
    _(uint16_t, cmark_gfm_extensions_get_table_columns, (cmark_node * node), (node))                                   \
    _(uint8_t *, cmark_gfm_extensions_get_table_alignments, (cmark_node * node), (node))

static struct table {
#define MEMBER(result, name, parameters, arguments) __typeof__(name) *name;
    FUNCTIONS(MEMBER)
} table;

// Hidden, so that the library does not call these instead of its own functions.
#define FUNCTION(result, name, parameters, arguments) \
    __attribute__((visibility("hidden"))) result name parameters { return table.name arguments; }
FUNCTIONS(FUNCTION)

// ISO C cannot cast an object pointer to a function pointer; POSIX guarantees that both have the same representation.
static int find(void *library, const char *name, void *function) {
    return (*(void **)function = dlsym(library, name)) != NULL;
}

const char *martlet_markdown_open(void) {
    static char reason[300];
    void *library = dlopen(OPENED_LIBRARY, RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
        snprintf(reason, sizeof reason, "%s", dlerror());
        return reason;
    }
    struct table found;
    const char *missing = NULL;
#define FIND(result, name, parameters, arguments) \
    if (!find(library, #name, &found.name)) missing = #name;
    FUNCTIONS(FIND)
    if (missing) {
        dlclose(library);
        snprintf(reason, sizeof reason, "%s has no %s", OPENED_LIBRARY, missing);
        return reason;
    }
    table = found;
    return NULL;
}
