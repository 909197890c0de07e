// Function-like macros, variadic functions and option bits of OpenSSL, which Swift cannot see. Each is named after what
// it stands for; there is no logic here.
#pragma once

#include "KeyDerivation.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// SSL_CTX

static inline int COpenSSLShims_SSL_CTX_set_min_proto_version(SSL_CTX *context, int version) {
    return (int)SSL_CTX_set_min_proto_version(context, version);
}

static inline int COpenSSLShims_SSL_CTX_set_max_proto_version(SSL_CTX *context, int version) {
    return (int)SSL_CTX_set_max_proto_version(context, version);
}

static inline void COpenSSLShims_SSL_CTX_set_mode(SSL_CTX *context, long mode) {
    SSL_CTX_set_mode(context, mode);
}

static inline int COpenSSLShims_SSL_CTX_set1_groups_list(SSL_CTX *context, const char *list) {
    return (int)SSL_CTX_set1_groups_list(context, list);
}

static inline void COpenSSLShims_SSL_set_mode(SSL *connection, long mode) {
    SSL_set_mode(connection, mode);
}

static inline void COpenSSLShims_SSL_clear_mode(SSL *connection, long mode) {
    SSL_clear_mode(connection, mode);
}

static inline void COpenSSLShims_SSL_CTX_set_session_cache_mode(SSL_CTX *context, long mode) {
    SSL_CTX_set_session_cache_mode(context, mode);
}

static inline void COpenSSLShims_SSL_CTX_set_max_cert_list(SSL_CTX *context, long bytes) {
    SSL_CTX_set_max_cert_list(context, bytes);
}

static inline int COpenSSLShims_SSL_CTX_add1_chain_cert(SSL_CTX *context, X509 *certificate) {
    return (int)SSL_CTX_add1_chain_cert(context, certificate);
}

// SSL_OP_*: 64-bit masks made by a macro.

static const uint64_t COpenSSLShims_SSL_OP_NO_TICKET = SSL_OP_NO_TICKET;
static const uint64_t COpenSSLShims_SSL_OP_NO_COMPRESSION = SSL_OP_NO_COMPRESSION;
static const uint64_t COpenSSLShims_SSL_OP_NO_RENEGOTIATION = SSL_OP_NO_RENEGOTIATION;
static const uint64_t COpenSSLShims_SSL_OP_CIPHER_SERVER_PREFERENCE = SSL_OP_CIPHER_SERVER_PREFERENCE;
static const uint64_t COpenSSLShims_SSL_OP_PRIORITIZE_CHACHA = SSL_OP_PRIORITIZE_CHACHA;

// BIO

static inline void COpenSSLShims_BIO_set_retry_read(BIO *bio) {
    BIO_set_retry_read(bio);
}

static inline void COpenSSLShims_BIO_clear_retry_flags(BIO *bio) {
    BIO_clear_retry_flags(bio);
}

static inline long COpenSSLShims_BIO_get_mem_data(BIO *bio, char **data) {
    return BIO_get_mem_data(bio, data);
}

// Keys and certificates

static const int COpenSSLShims_EVP_PKEY_KEYPAIR = EVP_PKEY_KEYPAIR;

static inline EVP_PKEY *COpenSSLShims_EVP_EC_gen(const char *curve) {
    return EVP_EC_gen(curve);
}

static inline EVP_PKEY *COpenSSLShims_EVP_RSA_gen(unsigned int bits) {
    return EVP_RSA_gen(bits);
}

static inline int COpenSSLShims_sk_X509_num(const STACK_OF(X509) * stack) {
    return sk_X509_num(stack);
}

// Processor

/// Whether this processor has instructions for AES (and the carry-less multiplication that GCM needs).
bool COpenSSLShims_has_aes_instructions(void);
