#ifndef CLINUXSHIMS_PROCESS_H
#define CLINUXSHIMS_PROCESS_H

#include <sys/types.h>

/* fork(2), which Swift hides: for a process that has one thread. */
pid_t CLinuxShims_fork(void);

/* pipe2(2), close-on-exec: a program that another thread starts meanwhile does not get its ends. */
int CLinuxShims_pipe(int ends[2]);

/* prctl(2) with PR_SET_CHILD_SUBREAPER: descendants whose parent ends become children of this process. */
int CLinuxShims_become_subreaper(void);

/* prctl(2) with PR_SET_PDEATHSIG: the signal that this process gets when the thread that forked it ends. */
int CLinuxShims_set_parent_death_signal(int signal);

/* prctl(2) with PR_SET_DUMPABLE, 0: no other process of the user can look into this one. */
int CLinuxShims_be_opaque(void);

/* prctl(2) with PR_GET_DUMPABLE, and with PR_SET_DUMPABLE. */
int CLinuxShims_dumpable(void);
int CLinuxShims_set_dumpable(int value);

/* Lets malloc overwrite memory that is given back, with a byte that is not 0; with 0 not any more. Not blocks up to 1 KiB,
   which malloc keeps for their thread. */
void CLinuxShims_overwrite_freed(int byte);

/* pidfd_send_signal(2). */
int CLinuxShims_pidfd_send_signal(int process, int signal);

/* signalfd(2) for every signal, close-on-exec and non-blocking. The caller blocks the signals and closes it. */
int CLinuxShims_signalfd(void);

/* The number of the next signal that has come, 0 for none. */
int CLinuxShims_signalfd_next(int signals);

/* sendmsg(2) and recvmsg(2) with SCM_RIGHTS: hands a descriptor, close-on-exec, over a socket. EBADF where none came. */
int CLinuxShims_send_descriptor(int socket, int descriptor);
int CLinuxShims_receive_descriptor(int socket);

/* An anonymous file in memory, close-on-exec; -1 and errno on failure. */
int CLinuxShims_memory_file(const char *name);
/* One of this size, which stays its size: a write beyond it fails with EPERM. */
int CLinuxShims_bounded_memory_file(const char *name, size_t bytes);

/* Most heaps (malloc arenas) that the threads of this process share. To be called before the first thread starts. */
/* Blocks of `mapped` bytes and more are mapped on their own and given back to the system when they are freed. */
/* Each heap keeps up to `kept` bytes that are free at its end. */
void CLinuxShims_limit_heaps(int count, int mapped, int kept);

#endif
