#define _GNU_SOURCE
#include "CLinuxShimsTLS.h"

#include <errno.h>
#include <linux/tls.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

// Newer than some C libraries.
#ifndef SOL_TLS
#define SOL_TLS 282
#endif

static socklen_t size_of(const struct tls_crypto_info *info) {
    if (info->version != TLS_1_3_VERSION) return 0;
    switch (info->cipher_type) {
    case TLS_CIPHER_AES_GCM_128: return sizeof(struct tls12_crypto_info_aes_gcm_128);
    case TLS_CIPHER_AES_GCM_256: return sizeof(struct tls12_crypto_info_aes_gcm_256);
#ifdef TLS_CIPHER_CHACHA20_POLY1305
    case TLS_CIPHER_CHACHA20_POLY1305: return sizeof(struct tls12_crypto_info_chacha20_poly1305);
#endif
    default: return 0;
    }
}

int CLinuxShims_tls_encrypt(int socket, const void *crypto_info) {
    socklen_t size = size_of(crypto_info);
    if (size == 0) {
        errno = ENOTSUP;
        return -1;
    }
    // A socket that has only got the protocol's name goes on as before.
    if (setsockopt(socket, IPPROTO_TCP, TCP_ULP, "tls", sizeof "tls") != 0) return -1;
    return setsockopt(socket, SOL_TLS, TLS_TX, crypto_info, size);
}

ssize_t CLinuxShims_tls_send_record(int socket, uint8_t type, const void *bytes, size_t count) {
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof type)];
    } control;
    memset(&control, 0, sizeof control);
    struct iovec piece = {.iov_base = (void *)bytes, .iov_len = count};
    struct msghdr message = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control.room};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_TLS;
    header->cmsg_type = TLS_SET_RECORD_TYPE;
    header->cmsg_len = CMSG_LEN(sizeof type);
    memcpy(CMSG_DATA(header), &type, sizeof type);
    return sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}
