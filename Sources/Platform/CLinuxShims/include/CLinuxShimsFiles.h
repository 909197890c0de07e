// Files: opening beneath a folder, renaming without replacing, taking room, syncing, reading folders.
// Like the calls they stand for, the functions return -1 and set errno where they fail.
#ifndef CLINUXSHIMS_FILES_H
#define CLINUXSHIMS_FILES_H

#include <dirent.h>
#include <stdint.h>
#include <sys/types.h>

/// openat2(2) with RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS: ENOSYS before Linux 5.6, EXDEV for a
/// path that leaves `folder`, ELOOP for a link anywhere in it. `flags` as for open(2); `mode` must be 0 without O_CREAT.
int CLinuxShims_openat2_beneath(int folder, const char *path, int flags, mode_t mode);

/// openat2(2) with O_PATH | O_CLOEXEC, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS: links that stay beneath `folder` are
/// followed, the last part of the path only if `follows_last`.
int CLinuxShims_open_place_beneath(int folder, const char *path, int follows_last);

/// renameat2(2) with RENAME_NOREPLACE: EEXIST where the new name is taken, EINVAL where the file system cannot do it.
int CLinuxShims_renameat2_noreplace(int folder, const char *name, int newFolder, const char *newName);

/// renameat2(2) with RENAME_EXCHANGE: both names must be there, and swap what they name in one step. EINVAL where the file
/// system cannot do it.
int CLinuxShims_renameat2_exchange(int folder, const char *name, int otherFolder, const char *otherName);

/// Whether an open file or folder lies on a tmpfs.
int CLinuxShims_is_tmpfs(int file);

/// read(2) of what is in memory, up to the first byte that is not: EAGAIN where that is the first, EOPNOTSUPP where the
/// file system cannot tell.
ssize_t CLinuxShims_read_cached(int file, void *bytes, size_t count);

/// fallocate(2) with FALLOC_FL_KEEP_SIZE.
int CLinuxShims_fallocate_keep_size(int file, int64_t offset, int64_t bytes);

/// fallocate(2) with FALLOC_FL_PUNCH_HOLE: gives the room of these bytes back, which read as zeros then.
int CLinuxShims_punch_hole(int file, int64_t offset, int64_t bytes);

/// sync_file_range(2) with SYNC_FILE_RANGE_WRITE: starts writing to the disk, waits for nothing.
int CLinuxShims_sync_file_range_write(int file, int64_t offset, int64_t bytes);

/// syncfs(2).
int CLinuxShims_syncfs(int file);

/// The number of the mount `file` lies on, by statx(2); ENOTSUP before Linux 5.8.
int CLinuxShims_mount_id(int file, uint64_t *identifier);

/// The name in `entry`, valid as long as `entry` is: Swift would copy the whole array, past the end of a short record.
const char *CLinuxShims_dirent_name(const struct dirent *entry);

/// UTIME_OMIT, the `tv_nsec` by which utimensat(2) leaves a time as it is.
extern const long CLinuxShims_UTIME_OMIT;

#endif
