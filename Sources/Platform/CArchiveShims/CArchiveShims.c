#include "CArchiveShims.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

const char *CArchiveShims_load(const char *library, CArchiveShims_Functions *functions) {
    // All its references at once: a library that lacks something is found out here, not in the middle of an archive.
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return dlerror();
#define FIND(name) \
    *(void **)&functions->name = dlsym(handle, #name); \
    if (!functions->name) return dlerror();
    CARCHIVE_SHIMS_FUNCTIONS(FIND)
#undef FIND
    return NULL;
}

static CArchiveShims_Functions shared;
static int isLoaded;

static void loadShared(void) { isLoaded = CArchiveShims_load(CARCHIVE_SHIMS_LIBRARY, &shared) == NULL; }

const CArchiveShims_Functions *CArchiveShims_shared(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, loadShared);
    return isLoaded ? &shared : NULL;
}
