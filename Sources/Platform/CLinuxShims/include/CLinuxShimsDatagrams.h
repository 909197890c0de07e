// The facts about a datagram that recvmsg(2) has in control messages, whose macros Swift cannot see.
#ifndef CLINUXSHIMS_DATAGRAMS_H
#define CLINUXSHIMS_DATAGRAMS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// The ends of a datagram.
typedef struct {
    /// Index of the interface on which it came; 0 if the kernel did not say.
    uint32_t interface;
    /// The sender's port, in host byte order.
    uint16_t port;
    /// 4 or 16; 0 if the kernel did not say.
    uint8_t address_bytes;
    /// In network order, the first `address_bytes` of them.
    uint8_t source[16];
    uint8_t destination[16];
} CLinuxShims_datagram_ends;

/// Takes one datagram without waiting, from a socket with IP_PKTINFO or IPV6_RECVPKTINFO.
///
/// Returns its whole size in bytes, of which the first `room` are in `buffer`; or -1 with errno.
ssize_t CLinuxShims_take_datagram(int file, void *buffer, size_t room, CLinuxShims_datagram_ends *ends);

#endif
