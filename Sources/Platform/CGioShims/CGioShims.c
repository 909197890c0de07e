#include "CGioShims.h"

#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

const char *CGioShims_load(const char *library, CGioShims_Functions *functions) {
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return dlerror();
#define FIND(result, name, parameters) \
    *(void **)&functions->name = dlsym(handle, #name); \
    if (!functions->name) return dlerror();
    CGIO_SHIMS_FUNCTIONS(FIND)
#undef FIND
    return NULL;
}

void CGioShims_set_up(void *leaves_terminal) {
    // Between fork and exec: only calls that signal-safety(7) lists.
    for (int number = 1; number < SIGRTMIN; number++) signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (leaves_terminal) setsid();
}

void CGioShims_note_process(CGioShims_AppInfo *application, pid_t process, void *place) {
    (void)application;
    *(pid_t *)place = process;
}
