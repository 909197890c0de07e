#define _GNU_SOURCE
#include "CLinuxShimsProcess.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The number is the same on every architecture. */
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif

pid_t CLinuxShims_fork(void) { return fork(); }

int CLinuxShims_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int CLinuxShims_become_subreaper(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L); }

int CLinuxShims_set_parent_death_signal(int signal) { return prctl(PR_SET_PDEATHSIG, (long)signal, 0L, 0L, 0L); }

int CLinuxShims_be_opaque(void) { return prctl(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L); }

int CLinuxShims_dumpable(void) { return prctl(PR_GET_DUMPABLE, 0L, 0L, 0L, 0L); }

int CLinuxShims_set_dumpable(int value) { return prctl(PR_SET_DUMPABLE, (long)value, 0L, 0L, 0L); }

void CLinuxShims_overwrite_freed(int byte) { mallopt(M_PERTURB, byte); }

int CLinuxShims_pidfd_send_signal(int process, int signal) {
    return (int)syscall(SYS_pidfd_send_signal, process, signal, NULL, 0U);
}

int CLinuxShims_signalfd(void) {
    sigset_t all;
    sigfillset(&all);
    return signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
}

int CLinuxShims_signalfd_next(int signals) {
    struct signalfd_siginfo information;
    return read(signals, &information, sizeof information) == (ssize_t)sizeof information
               ? (int)information.ssi_signo
               : 0;
}

union descriptor_message {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int))];
};

int CLinuxShims_send_descriptor(int socket, int descriptor) {
    char byte = 0;
    struct iovec piece = {&byte, 1};
    union descriptor_message control;
    memset(&control, 0, sizeof control);
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(sizeof descriptor);
    memcpy(CMSG_DATA(&control.header), &descriptor, sizeof descriptor);
    struct msghdr message = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control.room};
    return sendmsg(socket, &message, MSG_NOSIGNAL) == 1 ? 0 : -1;
}

int CLinuxShims_receive_descriptor(int socket) {
    char byte;
    struct iovec piece = {&byte, 1};
    union descriptor_message control;
    memset(&control, 0, sizeof control);
    struct msghdr message = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control.room};
    ssize_t count;
    do count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    while (count < 0 && errno == EINTR);
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (count != 1 || !header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS ||
        header->cmsg_len != CMSG_LEN(sizeof(int))) {
        errno = EBADF;
        return -1;
    }
    int descriptor;
    memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
    return descriptor;
}

int CLinuxShims_memory_file(const char *name) { return memfd_create(name, MFD_CLOEXEC); }

int CLinuxShims_bounded_memory_file(const char *name, size_t bytes) {
    int file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0) return -1;
    if (ftruncate(file, (off_t)bytes) == 0 && fcntl(file, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) == 0) return file;
    int failure = errno;
    close(file);
    errno = failure;
    return -1;
}

void CLinuxShims_limit_heaps(int count, int mapped, int kept) {
    mallopt(M_ARENA_MAX, count);
    mallopt(M_MMAP_THRESHOLD, mapped);
    mallopt(M_TRIM_THRESHOLD, kept);
}
