#define _GNU_SOURCE
#include "CLinuxShimsEvents.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

int CLinuxShims_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

static volatile sig_atomic_t signalDescriptor = -1;

static void writeSignal(int number) {
    int cause = errno;
    unsigned char byte = (unsigned char)number;
    /* Without room somebody has been told often enough. */
    ssize_t count = write((int)signalDescriptor, &byte, 1);
    (void)count;
    errno = cause;
}

int CLinuxShims_signal_to(int number, int descriptor) {
    struct sigaction action;
    if (sigaction(number, NULL, &action) != 0)
        return -1;
    if (action.sa_handler == SIG_IGN)
        return 0;
    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    action.sa_handler = descriptor < 0 ? SIG_DFL : writeSignal;
    if (descriptor >= 0)
        signalDescriptor = descriptor;
    return sigaction(number, &action, NULL);
}

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
