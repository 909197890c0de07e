// seccomp(2): filters of system calls, and calls that another process answers.
// Like the calls they stand for, the functions return -1 and set errno where they fail.
#ifndef CLINUXSHIMS_SECCOMP_H
#define CLINUXSHIMS_SECCOMP_H

#include <stddef.h>
#include <stdint.h>

/// `struct sock_filter`: one instruction of a filter.
struct CLinuxShims_filter_instruction {
    uint16_t code;
    uint8_t if_true;
    uint8_t if_false;
    uint32_t value;
};

/// SECCOMP_SET_FILTER_MODE: puts the calling thread, and all that it starts, under the filter for good. Needs no new
/// privileges to be set.
int CLinuxShims_seccomp_install(const struct CLinuxShims_filter_instruction *filter, size_t count);

/// The same with SECCOMP_FILTER_FLAG_NEW_LISTENER and, where the kernel knows it, …WAIT_KILLABLE_RECV: the descriptor,
/// close-on-exec, from which SECCOMP_RET_USER_NOTIF is answered. EBUSY where a filter in force has one, EINVAL where the
/// kernel has none. The caller closes it.
int CLinuxShims_seccomp_install_with_listener(const struct CLinuxShims_filter_instruction *filter, size_t count);

/// Tries in a process of its own whether a filter with a listener can be installed: 0, or the errno.
int CLinuxShims_seccomp_probe(void);

/// A call that waits for its answer.
struct CLinuxShims_asked_call {
    uint64_t identifier;
    uint64_t arguments[6];
    /// The thread that made it, as this process sees it; 0 for one that it cannot see.
    int32_t thread;
    int32_t number;
};

/// SECCOMP_IOCTL_NOTIF_RECV. ENOENT where the caller has gone meanwhile.
int CLinuxShims_seccomp_receive(int listener, struct CLinuxShims_asked_call *call);

/// SECCOMP_IOCTL_NOTIF_ID_VALID: whether the caller of that call still waits for its answer.
int CLinuxShims_seccomp_is_waiting(int listener, uint64_t identifier);

/// SECCOMP_IOCTL_NOTIF_SEND: the call returns 0, or fails with `error`, a positive errno.
int CLinuxShims_seccomp_answer(int listener, uint64_t identifier, int error);

/// The architecture of this program's system calls, AUDIT_ARCH_…; 0 for one for which no filter is known.
extern const uint32_t CLinuxShims_AUDIT_ARCH;

#endif
