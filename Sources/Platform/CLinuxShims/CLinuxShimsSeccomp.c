#define _GNU_SOURCE
#include "CLinuxShimsSeccomp.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

#if defined(__x86_64__)
const uint32_t CLinuxShims_AUDIT_ARCH = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
const uint32_t CLinuxShims_AUDIT_ARCH = AUDIT_ARCH_AARCH64;
#else
const uint32_t CLinuxShims_AUDIT_ARCH = 0;
#endif

_Static_assert(sizeof(struct CLinuxShims_filter_instruction) == sizeof(struct sock_filter), "one instruction");

static int install(const struct CLinuxShims_filter_instruction *filter, size_t count, unsigned long flags) {
    struct sock_fprog program = {(unsigned short)count, (struct sock_filter *)filter};
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

int CLinuxShims_seccomp_install(const struct CLinuxShims_filter_instruction *filter, size_t count) {
    return install(filter, count, 0);
}

int CLinuxShims_seccomp_install_with_listener(const struct CLinuxShims_filter_instruction *filter, size_t count) {
    unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
    int listener = install(filter, count, flags | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);
    // Before Linux 5.19.
    if (listener < 0 && errno == EINVAL) listener = install(filter, count, flags);
    return listener;
}

int CLinuxShims_seccomp_probe(void) {
    pid_t child = fork();
    if (child < 0) return errno;
    if (child == 0) {
        // Other threads may have been anywhere: system calls alone from here.
        struct CLinuxShims_filter_instruction allow = {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
        if (prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L) != 0) _exit(errno);
        _exit(CLinuxShims_seccomp_install_with_listener(&allow, 1) < 0 ? errno : 0);
    }
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return errno;
    return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

int CLinuxShims_seccomp_receive(int listener, struct CLinuxShims_asked_call *call) {
    // The kernel wants it zeroed, and fills as much as it knows.
    union {
        struct seccomp_notif notification;
        unsigned char room[512];
    } received;
    memset(&received, 0, sizeof received);
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &received) != 0) return -1;
    call->identifier = received.notification.id;
    call->thread = (int32_t)received.notification.pid;
    call->number = received.notification.data.nr;
    for (int i = 0; i < 6; i++) call->arguments[i] = received.notification.data.args[i];
    return 0;
}

int CLinuxShims_seccomp_is_waiting(int listener, uint64_t identifier) {
    return ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &identifier) == 0;
}

int CLinuxShims_seccomp_answer(int listener, uint64_t identifier, int error) {
    struct seccomp_notif_resp response;
    memset(&response, 0, sizeof response);
    response.id = identifier;
    response.error = -error;
    return ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}
