// libgio, loaded when it is first used: hardly any start of a program of ours looks for the applications of the desktop,
// and a server has no libgio. GLib's binary interface is stable, so the functions are declared here, and building needs
// no GLib. No logic besides loading, and what runs between fork and exec.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct CGioShims_AppInfo CGioShims_AppInfo;
typedef struct CGioShims_KeyFile CGioShims_KeyFile;
typedef struct CGioShims_LaunchContext CGioShims_LaunchContext;

/// GList.
typedef struct CGioShims_List {
    void *_Nullable data;
    struct CGioShims_List *_Nullable next;
    struct CGioShims_List *_Nullable previous;
} CGioShims_List;

/// GError.
typedef struct CGioShims_Error {
    uint32_t domain;
    int code;
    const char *_Nullable message;
} CGioShims_Error;

/// GSpawnFlags.
enum {
    CGioShims_DO_NOT_REAP_CHILD = 1 << 1,
    CGioShims_SEARCH_PATH = 1 << 2,
};

// The functions that are used; each is called by its own name.
#define CGIO_SHIMS_FUNCTIONS(FUNCTION) \
    FUNCTION(CGioShims_List *_Nullable, g_app_info_get_all_for_type, (const char *_Nonnull type)) \
    FUNCTION(CGioShims_AppInfo *_Nullable, g_app_info_get_default_for_type, \
             (const char *_Nonnull type, int must_support_uris)) \
    FUNCTION(const char *_Nullable, g_app_info_get_id, (CGioShims_AppInfo *_Nonnull)) \
    FUNCTION(const char *_Nullable, g_app_info_get_display_name, (CGioShims_AppInfo *_Nonnull)) \
    FUNCTION(const char *_Nullable, g_desktop_app_info_get_filename, (CGioShims_AppInfo *_Nonnull)) \
    FUNCTION(int, g_desktop_app_info_get_boolean, (CGioShims_AppInfo *_Nonnull, const char *_Nonnull key)) \
    FUNCTION(CGioShims_AppInfo *_Nullable, g_desktop_app_info_new_from_keyfile, (CGioShims_KeyFile *_Nonnull)) \
    FUNCTION(int, g_desktop_app_info_launch_uris_as_manager_with_fds, \
             (CGioShims_AppInfo *_Nonnull, CGioShims_List *_Nullable uris, \
              CGioShims_LaunchContext *_Nullable, int flags, \
              void (*_Nullable setup)(void *_Nullable), void *_Nullable setup_data, \
              void (*_Nullable started)(CGioShims_AppInfo *_Nonnull, pid_t, void *_Nullable), \
              void *_Nullable started_data, int input, int output, int error, \
              CGioShims_Error *_Nullable *_Nullable failure)) \
    FUNCTION(CGioShims_LaunchContext *_Nonnull, g_app_launch_context_new, (void)) \
    FUNCTION(void, g_app_launch_context_setenv, \
             (CGioShims_LaunchContext *_Nonnull, const char *_Nonnull name, const char *_Nonnull value)) \
    FUNCTION(void, g_app_launch_context_unsetenv, (CGioShims_LaunchContext *_Nonnull, const char *_Nonnull name)) \
    FUNCTION(CGioShims_KeyFile *_Nonnull, g_key_file_new, (void)) \
    FUNCTION(int, g_key_file_load_from_file, \
             (CGioShims_KeyFile *_Nonnull, const char *_Nonnull path, int flags, \
              CGioShims_Error *_Nullable *_Nullable failure)) \
    FUNCTION(void, g_key_file_set_boolean, \
             (CGioShims_KeyFile *_Nonnull, const char *_Nonnull group, const char *_Nonnull key, int value)) \
    FUNCTION(void, g_key_file_unref, (CGioShims_KeyFile *_Nonnull)) \
    FUNCTION(CGioShims_List *_Nonnull, g_list_prepend, (CGioShims_List *_Nullable, void *_Nullable data)) \
    FUNCTION(void, g_list_free, (CGioShims_List *_Nullable)) \
    FUNCTION(void, g_error_free, (CGioShims_Error *_Nonnull)) \
    FUNCTION(void, g_object_unref, (void *_Nonnull))

#define CGIO_SHIMS_FIELD(result, name, parameters) result (*_Nonnull name) parameters;
typedef struct {
    CGIO_SHIMS_FUNCTIONS(CGIO_SHIMS_FIELD)
} CGioShims_Functions;
#undef CGIO_SHIMS_FIELD

/// dlopen(3) and dlsym(3) of each function into `functions`. The library stays for as long as the process does.
/// Returns NULL, or what dlerror(3) says: valid until the thread's next call of dlopen(3) and the like.
const char *_Nullable CGioShims_load(const char *_Nonnull library, CGioShims_Functions *_Nonnull functions);

/// The `setup` of a program: no signal is blocked or ignored any more; with data that is not NULL it also leaves the
/// terminal and gets a session of its own.
void CGioShims_set_up(void *_Nullable leaves_terminal);

/// A `started` that writes the process into the `pid_t` that the data points to.
void CGioShims_note_process(CGioShims_AppInfo *_Nonnull, pid_t process, void *_Nullable place);
