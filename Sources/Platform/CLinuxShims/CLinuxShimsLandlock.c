#define _GNU_SOURCE
#include "CLinuxShimsLandlock.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if __has_include(<linux/landlock.h>)
#include <linux/landlock.h>
#endif

// The numbers are the same on every architecture (all calls since Linux 5.1 are, alpha apart, which has no Swift).
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

// The rights by the documented ABI, for headers that are older than the right.
#ifndef LANDLOCK_ACCESS_FS_EXECUTE
#define LANDLOCK_ACCESS_FS_EXECUTE (1ULL << 0)
#define LANDLOCK_ACCESS_FS_READ_FILE (1ULL << 2)
#define LANDLOCK_ACCESS_FS_READ_DIR (1ULL << 3)
#define LANDLOCK_ACCESS_FS_WRITE_FILE (1ULL << 1)
#define LANDLOCK_ACCESS_FS_REMOVE_DIR (1ULL << 4)
#define LANDLOCK_ACCESS_FS_REMOVE_FILE (1ULL << 5)
#define LANDLOCK_ACCESS_FS_MAKE_CHAR (1ULL << 6)
#define LANDLOCK_ACCESS_FS_MAKE_DIR (1ULL << 7)
#define LANDLOCK_ACCESS_FS_MAKE_REG (1ULL << 8)
#define LANDLOCK_ACCESS_FS_MAKE_SOCK (1ULL << 9)
#define LANDLOCK_ACCESS_FS_MAKE_FIFO (1ULL << 10)
#define LANDLOCK_ACCESS_FS_MAKE_BLOCK (1ULL << 11)
#define LANDLOCK_ACCESS_FS_MAKE_SYM (1ULL << 12)
#endif
#ifndef LANDLOCK_ACCESS_FS_REFER
#define LANDLOCK_ACCESS_FS_REFER (1ULL << 13)
#endif
#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14)
#endif
#ifndef LANDLOCK_ACCESS_FS_IOCTL_DEV
#define LANDLOCK_ACCESS_FS_IOCTL_DEV (1ULL << 15)
#endif

// The kernel takes every former version of the structure by its size.
struct ruleset_attributes {
    uint64_t handled_access_fs;
    uint64_t handled_access_net;
    uint64_t scoped;
};

struct path_beneath_attributes {
    uint64_t allowed_access;
    int32_t parent_fd;
} __attribute__((packed));

int CLinuxShims_landlock_abi(void) { return (int)syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, 1U); }

int CLinuxShims_landlock_create_ruleset(uint64_t handled, uint64_t handled_net, uint64_t scoped) {
    struct ruleset_attributes attributes = {handled, handled_net, scoped};
    size_t size = scoped ? sizeof attributes : handled_net ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
    return (int)syscall(SYS_landlock_create_ruleset, &attributes, size, 0U);
}

int CLinuxShims_landlock_allow_beneath(int ruleset, int file, uint64_t allowed) {
    struct path_beneath_attributes attributes = {allowed, file};
    return (int)syscall(SYS_landlock_add_rule, ruleset, 1, &attributes, 0U);
}

int CLinuxShims_landlock_restrict_self(int ruleset) { return (int)syscall(SYS_landlock_restrict_self, ruleset, 0U); }

int CLinuxShims_open_place(const char *path) { return open(path, O_PATH | O_CLOEXEC); }

int CLinuxShims_no_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L); }

int CLinuxShims_drop_capabilities(void) {
    // Only root may, and only root would get any back. The kernel refuses the first number that it does not know.
    for (long capability = 0; prctl(PR_CAPBSET_DROP, capability, 0L, 0L, 0L) == 0; capability++) {}
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0L, 0L, 0L);
    return (int)syscall(SYS_capset, &header, none);
}

int CLinuxShims_getrlimit(int resource, uint64_t *soft, uint64_t *hard) {
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0) return -1;
    *soft = limit.rlim_cur;
    *hard = limit.rlim_max;
    return 0;
}

int CLinuxShims_setrlimit(int resource, uint64_t soft, uint64_t hard) {
    struct rlimit limit = {soft, hard};
    return setrlimit(resource, &limit);
}

const int CLinuxShims_RLIMIT_CORE = RLIMIT_CORE;
const int CLinuxShims_RLIMIT_NOFILE = RLIMIT_NOFILE;
const int CLinuxShims_RLIMIT_AS = RLIMIT_AS;

// BIND_TCP and CONNECT_TCP; ABSTRACT_UNIX_SOCKET and SIGNAL.
const uint64_t CLinuxShims_LANDLOCK_TCP = 3;
const uint64_t CLinuxShims_LANDLOCK_SCOPE = 3;

const uint64_t CLinuxShims_LANDLOCK_EXECUTE = LANDLOCK_ACCESS_FS_EXECUTE;
const uint64_t CLinuxShims_LANDLOCK_READ_FILE = LANDLOCK_ACCESS_FS_READ_FILE;
const uint64_t CLinuxShims_LANDLOCK_READ_DIR = LANDLOCK_ACCESS_FS_READ_DIR;
const uint64_t CLinuxShims_LANDLOCK_WRITE_FILE = LANDLOCK_ACCESS_FS_WRITE_FILE;
const uint64_t CLinuxShims_LANDLOCK_REMOVE_DIR = LANDLOCK_ACCESS_FS_REMOVE_DIR;
const uint64_t CLinuxShims_LANDLOCK_REMOVE_FILE = LANDLOCK_ACCESS_FS_REMOVE_FILE;
const uint64_t CLinuxShims_LANDLOCK_MAKE_CHAR = LANDLOCK_ACCESS_FS_MAKE_CHAR;
const uint64_t CLinuxShims_LANDLOCK_MAKE_DIR = LANDLOCK_ACCESS_FS_MAKE_DIR;
const uint64_t CLinuxShims_LANDLOCK_MAKE_REG = LANDLOCK_ACCESS_FS_MAKE_REG;
const uint64_t CLinuxShims_LANDLOCK_MAKE_SOCK = LANDLOCK_ACCESS_FS_MAKE_SOCK;
const uint64_t CLinuxShims_LANDLOCK_MAKE_FIFO = LANDLOCK_ACCESS_FS_MAKE_FIFO;
const uint64_t CLinuxShims_LANDLOCK_MAKE_BLOCK = LANDLOCK_ACCESS_FS_MAKE_BLOCK;
const uint64_t CLinuxShims_LANDLOCK_MAKE_SYM = LANDLOCK_ACCESS_FS_MAKE_SYM;
const uint64_t CLinuxShims_LANDLOCK_REFER = LANDLOCK_ACCESS_FS_REFER;
const uint64_t CLinuxShims_LANDLOCK_TRUNCATE = LANDLOCK_ACCESS_FS_TRUNCATE;
const uint64_t CLinuxShims_LANDLOCK_IOCTL_DEV = LANDLOCK_ACCESS_FS_IOCTL_DEV;
