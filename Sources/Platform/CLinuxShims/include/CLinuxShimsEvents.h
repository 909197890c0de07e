// Events as file descriptors: what an event loop of its own needs to be woken and to hear of the network.
// Like the calls they stand for, the functions return -1 and set errno where they fail.
#ifndef CLINUXSHIMS_EVENTS_H
#define CLINUXSHIMS_EVENTS_H

/// eventfd(2) with EFD_CLOEXEC | EFD_NONBLOCK, counter 0. The caller closes it.
int CLinuxShims_eventfd(void);

/// From now on the signal's number is written to `descriptor`, as one byte and without waiting for room; -1 gives the
/// signal back to what the system does by default. One descriptor for all signals, forever. A signal that the process
/// was started to ignore stays ignored.
int CLinuxShims_signal_to(int number, int descriptor);

/// A non-blocking NETLINK_ROUTE socket, rtnetlink(7), that hears of every change of links and addresses of this network
/// namespace. The caller closes it.
int CLinuxShims_rtnetlink_changes(void);

/// pthread_setname_np(3) for the calling thread: at most 15 bytes, for those who look at a process from outside.
void CLinuxShims_pthread_setname(const char *name);

#endif
