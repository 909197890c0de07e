#include "COpenSSLShims.h"

#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

bool COpenSSLShims_has_aes_instructions(void) {
#if defined(__x86_64__)
    return __builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul");
#elif defined(__aarch64__)
    unsigned long capabilities = getauxval(AT_HWCAP);
    return (capabilities & HWCAP_AES) && (capabilities & HWCAP_PMULL);
#else
    return false;
#endif
}
