#define _GNU_SOURCE
#include "CLinuxShimsPeer.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The number of all architectures but alpha, hppa, mips and sparc; older headers lack it. */
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

const int CLinuxShims_SO_PEERPIDFD = SO_PEERPIDFD;

int CLinuxShims_pidfd_open(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }
