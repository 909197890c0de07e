#define _GNU_SOURCE
#include "CLinuxShimsEvents.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

int CLinuxShims_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

int CLinuxShims_rtnetlink_changes(void) {
    int file = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (file < 0)
        return -1;
    struct sockaddr_nl address;
    memset(&address, 0, sizeof address);
    address.nl_family = AF_NETLINK;
    address.nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR;
    if (bind(file, (struct sockaddr *)&address, sizeof address) == 0)
        return file;
    int cause = errno;
    close(file);
    errno = cause;
    return -1;
}

void CLinuxShims_pthread_setname(const char *name) { pthread_setname_np(pthread_self(), name); }
