#ifndef CLINUXSHIMS_PEER_H
#define CLINUXSHIMS_PEER_H

#include <sys/types.h>

/* SO_PEERPIDFD of getsockopt(2): the process that connected, as a descriptor. ENOPROTOOPT before Linux 6.5. */
extern const int CLinuxShims_SO_PEERPIDFD;

/* pidfd_open(2), close-on-exec; -1 and errno on failure. The caller closes it. */
int CLinuxShims_pidfd_open(pid_t process);

#endif
