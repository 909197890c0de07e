// What is told of files that are not opened for their contents: since when they are there.
// Like the calls they stand for, the functions return -1 and set errno where they fail.
#ifndef CLINUXSHIMS_NOTIFY_H
#define CLINUXSHIMS_NOTIFY_H

#include <stdint.h>

/// When the file or folder at `path` was made, by statx(2), links being followed: ENOTSUP where its file system does not
/// keep that.
int CLinuxShims_birth_time(const char *path, int64_t *seconds, uint32_t *nanoseconds);

#endif
