#pragma once
#include <xxhash.h>

/* Does the same with the widest vectors of the processor that it runs on: a quarter of the time where there is AVX-512.
 * Weak, because libxxhash is built without it for other processors than x86-64, and here and there for those too. */
extern XXH_errorcode XXH3_128bits_update_dispatch(XXH3_state_t *state, const void *input, size_t length)
    __attribute__((weak));

static inline XXH_errorcode CXXHash_XXH3_128bits_update(XXH3_state_t *state, const void *input, size_t length) {
    if (XXH3_128bits_update_dispatch) return XXH3_128bits_update_dispatch(state, input, length);
    return XXH3_128bits_update(state, input, length);
}
