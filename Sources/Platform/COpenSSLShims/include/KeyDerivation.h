// HKDF as libcrypto has it (EVP_PKEY_CTX_set_hkdf_md and the like): functions that COpenSSL's own header does not reach.
#pragma once

#include <openssl/kdf.h>
