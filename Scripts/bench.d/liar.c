/* Preloaded into waft, it makes a relay that lies: of the large writes on connections that this process began, which are links of
 * a group, one has a wrong byte: the one with the number LIE_AT, from 1. Built with cc -shared -fPIC and -lssl. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <openssl/ssl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int (*writing)(SSL *, const void *, size_t, size_t *);

/* More than a request has, and less than a block. */
static const size_t large = 32 << 10;
static atomic_int count;

int SSL_write_ex(SSL *connection, const void *bytes, size_t length, size_t *written) {
    static _Atomic(writing) real;
    if (!real) real = (writing)dlsym(RTLD_NEXT, "SSL_write_ex");
    const char *number = getenv("LIE_AT");
    if (!number || length < large || SSL_is_server(connection) || ++count != atoi(number))
        return real(connection, bytes, length, written);
    unsigned char *lie = malloc(length);
    if (!lie) abort();
    memcpy(lie, bytes, length);
    lie[length / 2] ^= 1;
    int result = real(connection, lie, length, written);
    free(lie);
    static const char said[] = "liar: one byte is wrong\n";
    (void)!write(STDERR_FILENO, said, sizeof said - 1);
    return result;
}
