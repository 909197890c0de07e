#define _GNU_SOURCE
#include "CLinuxShimsNotify.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

int CLinuxShims_birth_time(const char *path, int64_t *seconds, uint32_t *nanoseconds) {
    struct statx status;
    if (statx(AT_FDCWD, path, AT_STATX_SYNC_AS_STAT, STATX_BTIME, &status) != 0) return -1;
    if (!(status.stx_mask & STATX_BTIME)) {
        errno = ENOTSUP;
        return -1;
    }
    *seconds = status.stx_btime.tv_sec;
    *nanoseconds = status.stx_btime.tv_nsec;
    return 0;
}
