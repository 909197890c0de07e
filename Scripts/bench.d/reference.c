/* The practical limit: one file from one process to another over TLS 1.3, as plainly as libssl lets it be done.
 *
 *   reference listen CERTIFICATE KEY FILE ADDRESS [digest]
 *                                                    prints its port; takes one connection, writes its bytes to FILE,
 *                                                    syncs it, tells the sender, and ends
 *   reference send ADDRESS PORT FILE                 sends FILE, waits until the other side has synced it
 *
 * No digest, no names, no journal, no rename: only reading, the cipher, the kernel and the disk remain. With "-" as the
 * CERTIFICATE, and "plain" as the last word of the sender, there is no cipher either. With "digest" the receiver computes
 * the SHA-256 of what it writes, as Waft does.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { piece = 512 << 10 };
static char buffer[piece];

static void fail(const char *what) {
    perror(what);
    ERR_print_errors_fp(stderr);
    exit(1);
}

static SSL_CTX *context(const SSL_METHOD *method) {
    SSL_CTX *context = SSL_CTX_new(method);
    if (!context || !SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) ||
        !SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256"))
        fail("context");
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
    return context;
}

/* One side of a connection; without ssl it carries plain TCP. */
struct side {
    int connection;
    SSL *ssl;
};

/* Bytes read, at most count; 0 at the end of the other side's bytes. */
static int take(struct side *side, char *into, int count) {
    int got = side->ssl ? SSL_read(side->ssl, into, count) : read(side->connection, into, count);
    if (side->ssl && got <= 0) got = SSL_get_error(side->ssl, got) == SSL_ERROR_ZERO_RETURN ? 0 : -1;
    if (got < 0) fail("receive");
    return got;
}

static void give(struct side *side, const char *from, int count) {
    for (int sent = 0; sent < count;) {
        int gone = side->ssl ? SSL_write(side->ssl, from + sent, count - sent)
                             : write(side->connection, from + sent, count - sent);
        if (gone <= 0) fail("send");
        sent += gone;
    }
}

static void end_sending(struct side *side) {
    if (side->ssl) SSL_shutdown(side->ssl);
    else shutdown(side->connection, SHUT_WR);
}

static void listen_once(const char *certificate, const char *key, const char *path, const char *host, int digests) {
    SSL_CTX *server = strcmp(certificate, "-") ? context(TLS_server_method()) : NULL;
    if (server && (SSL_CTX_use_certificate_file(server, certificate, SSL_FILETYPE_PEM) != 1 ||
                   SSL_CTX_use_PrivateKey_file(server, key, SSL_FILETYPE_PEM) != 1))
        fail("certificate");
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = inet_addr(host)};
    socklen_t length = sizeof address;
    if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 1) ||
        getsockname(listener, (struct sockaddr *)&address, &length))
        fail("listen");
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    struct side side = {.connection = accept(listener, NULL, NULL)};
    if (side.connection < 0) fail("accept");
    if (server) {
        side.ssl = SSL_new(server);
        SSL_set_fd(side.ssl, side.connection);
        if (SSL_accept(side.ssl) != 1) fail("handshake");
    }
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file < 0) fail(path);
    EVP_MD_CTX *digest = digests ? EVP_MD_CTX_new() : NULL;
    if (digests && (!digest || EVP_DigestInit_ex(digest, EVP_sha256(), NULL) != 1)) fail("digest");
    /* Collects the records of 16 KiB, so that writes to the disk are as large as the reads of the sender. */
    int filled = 0, count;
    do {
        count = take(&side, buffer + filled, piece - filled);
        filled += count;
        if (filled == piece || count == 0) {
            if (digest && EVP_DigestUpdate(digest, buffer, filled) != 1) fail("digest");
            if (filled > 0 && write(file, buffer, filled) != filled) fail("write");
            filled = 0;
        }
    } while (count > 0);
    unsigned char sum[EVP_MAX_MD_SIZE];
    if (digest && EVP_DigestFinal_ex(digest, sum, NULL) != 1) fail("digest");
    if (fsync(file)) fail("sync");
    give(&side, "!", 1);
    end_sending(&side);
    close(side.connection);
}

static void send_file(const char *host, int port, const char *path, int plain) {
    int connection = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = inet_addr(host), .sin_port = htons(port)};
    if (connect(connection, (struct sockaddr *)&address, sizeof address)) fail("connect");
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct side side = {.connection = connection};
    if (!plain) {
        side.ssl = SSL_new(context(TLS_client_method()));
        SSL_set_fd(side.ssl, connection);
        if (SSL_connect(side.ssl) != 1) fail("handshake");
    }
    int file = open(path, O_RDONLY);
    if (file < 0) fail(path);
    ssize_t count;
    while ((count = read(file, buffer, piece)) > 0) give(&side, buffer, count);
    if (count < 0) fail("read");
    end_sending(&side);
    char answer;
    if (take(&side, &answer, 1) != 1) fail("answer");
}

int main(int count, char **words) {
    if (count >= 6 && !strcmp(words[1], "listen"))
        listen_once(words[2], words[3], words[4], words[5], count == 7 && !strcmp(words[6], "digest"));
    else if (count >= 5 && !strcmp(words[1], "send"))
        send_file(words[2], atoi(words[3]), words[4], count == 6 && !strcmp(words[5], "plain"));
    else return 64;
    return 0;
}
