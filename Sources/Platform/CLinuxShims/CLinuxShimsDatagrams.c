#define _GNU_SOURCE
#include "CLinuxShimsDatagrams.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

ssize_t CLinuxShims_take_datagram(int file, void *buffer, size_t room, CLinuxShims_datagram_ends *ends) {
    union {
        char bytes[CMSG_SPACE(sizeof(struct in6_pktinfo)) + CMSG_SPACE(sizeof(struct in_pktinfo))];
        struct cmsghdr aligned;
    } control;
    struct sockaddr_storage source;
    struct iovec piece = {.iov_base = buffer, .iov_len = room};
    struct msghdr message = {
        .msg_name = &source,
        .msg_namelen = sizeof source,
        .msg_iov = &piece,
        .msg_iovlen = 1,
        .msg_control = control.bytes,
        .msg_controllen = sizeof control.bytes,
    };
    memset(ends, 0, sizeof *ends);
    memset(&source, 0, sizeof source);
    ssize_t count = recvmsg(file, &message, MSG_DONTWAIT | MSG_TRUNC);
    if (count < 0)
        return -1;
    for (struct cmsghdr *part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
        if (part->cmsg_level == IPPROTO_IP && part->cmsg_type == IP_PKTINFO && source.ss_family == AF_INET) {
            struct in_pktinfo facts;
            struct sockaddr_in from;
            memcpy(&facts, CMSG_DATA(part), sizeof facts);
            memcpy(&from, &source, sizeof from);
            ends->interface = (uint32_t)facts.ipi_ifindex;
            ends->port = ntohs(from.sin_port);
            ends->address_bytes = 4;
            memcpy(ends->source, &from.sin_addr, 4);
            memcpy(ends->destination, &facts.ipi_addr, 4);
        } else if (part->cmsg_level == IPPROTO_IPV6 && part->cmsg_type == IPV6_PKTINFO && source.ss_family == AF_INET6) {
            struct in6_pktinfo facts;
            struct sockaddr_in6 from;
            memcpy(&facts, CMSG_DATA(part), sizeof facts);
            memcpy(&from, &source, sizeof from);
            ends->interface = facts.ipi6_ifindex;
            ends->port = ntohs(from.sin6_port);
            ends->address_bytes = 16;
            memcpy(ends->source, &from.sin6_addr, 16);
            memcpy(ends->destination, &facts.ipi6_addr, 16);
        }
    }
    return count;
}
