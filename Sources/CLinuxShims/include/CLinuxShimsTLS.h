// Encryption by the kernel of what a TCP socket sends: linux/tls.h, and "Kernel TLS" in the kernel's documentation.
// Like the calls they stand for, the functions return -1 and set errno where they fail.
#ifndef CLINUXSHIMS_TLS_H
#define CLINUXSHIMS_TLS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// From now on what is written to `socket` is encrypted as application data of TLS 1.3. `crypto_info` is one of the kernel's
/// `tls12_crypto_info_...`, which says of itself which one it is: ENOTSUP for one that this was not built with.
int CLinuxShims_tls_encrypt(int socket, const void *crypto_info);

/// Sends `bytes` as one record of `type` (RFC 8446, section 5.1) without waiting, on a socket that encrypts.
ssize_t CLinuxShims_tls_send_record(int socket, uint8_t type, const void *bytes, size_t count);

#endif
