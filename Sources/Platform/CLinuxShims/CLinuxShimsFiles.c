#define _GNU_SOURCE
#include "CLinuxShimsFiles.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

int CLinuxShims_openat2_beneath(int folder, const char *path, int flags, mode_t mode) {
    struct open_how how;
    memset(&how, 0, sizeof how);
    how.flags = (unsigned int)flags;
    how.mode = mode;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    return (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
}

int CLinuxShims_open_place_beneath(int folder, const char *path, int follows_last) {
    struct open_how how;
    memset(&how, 0, sizeof how);
    how.flags = O_PATH | O_CLOEXEC | (follows_last ? 0 : O_NOFOLLOW);
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
    return (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
}

int CLinuxShims_renameat2_noreplace(int folder, const char *name, int newFolder, const char *newName) {
    return renameat2(folder, name, newFolder, newName, RENAME_NOREPLACE);
}

int CLinuxShims_renameat2_exchange(int folder, const char *name, int otherFolder, const char *otherName) {
    return renameat2(folder, name, otherFolder, otherName, RENAME_EXCHANGE);
}

int CLinuxShims_is_tmpfs(int file) {
    struct statfs status;
    return fstatfs(file, &status) == 0 && status.f_type == TMPFS_MAGIC;
}

ssize_t CLinuxShims_read_cached(int file, void *bytes, size_t count) {
    struct iovec piece = {.iov_base = bytes, .iov_len = count};
    return preadv2(file, &piece, 1, -1, RWF_NOWAIT);
}

int CLinuxShims_fallocate_keep_size(int file, int64_t offset, int64_t bytes) {
    return fallocate(file, FALLOC_FL_KEEP_SIZE, offset, bytes);
}

int CLinuxShims_punch_hole(int file, int64_t offset, int64_t bytes) {
    return fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, bytes);
}

int CLinuxShims_sync_file_range_write(int file, int64_t offset, int64_t bytes) {
    return sync_file_range(file, offset, bytes, SYNC_FILE_RANGE_WRITE);
}

int CLinuxShims_syncfs(int file) { return syncfs(file); }

int CLinuxShims_mount_id(int file, uint64_t *identifier) {
    struct statx status;
    if (statx(file, "", AT_EMPTY_PATH, STATX_MNT_ID, &status) != 0) return -1;
    if (!(status.stx_mask & STATX_MNT_ID)) {
        errno = ENOTSUP;
        return -1;
    }
    *identifier = status.stx_mnt_id;
    return 0;
}

const char *CLinuxShims_dirent_name(const struct dirent *entry) { return entry->d_name; }

const long CLinuxShims_UTIME_OMIT = UTIME_OMIT;
