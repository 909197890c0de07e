// Landlock and the other ways in which a process takes rights from itself, for good.
// Like the calls they stand for, the functions return -1 and set errno where they fail.
#ifndef CLINUXSHIMS_LANDLOCK_H
#define CLINUXSHIMS_LANDLOCK_H

#include <stdint.h>

/// landlock_create_ruleset(2) with LANDLOCK_CREATE_RULESET_VERSION: the ABI version, from 1. ENOSYS where the kernel
/// was built without Landlock, EOPNOTSUPP where it was not enabled at boot.
int CLinuxShims_landlock_abi(void);

/// landlock_create_ruleset(2): a set of rules, close-on-exec, that denies what is `handled` where no rule allows it: of
/// files, of TCP (ABI 4), and to reach out of the sandbox at all (`scoped`, ABI 6). 0 for what the kernel does not know.
/// The caller closes it.
int CLinuxShims_landlock_create_ruleset(uint64_t handled, uint64_t handled_net, uint64_t scoped);

/// landlock_add_rule(2) with LANDLOCK_RULE_PATH_BENEATH: allows `allowed` at and beneath the open `file`.
int CLinuxShims_landlock_allow_beneath(int ruleset, int file, uint64_t allowed);

/// landlock_restrict_self(2), of the calling thread and all that it starts. Needs no new privileges to be set.
int CLinuxShims_landlock_restrict_self(int ruleset);

/// open(2) with O_PATH | O_CLOEXEC: a place to make a rule for, links being followed. The caller closes it.
int CLinuxShims_open_place(const char *path);

/// prctl(2) with PR_SET_NO_NEW_PRIVS.
int CLinuxShims_no_new_privileges(void);

/// Gives up every capability, those that programs of root would get again too.
int CLinuxShims_drop_capabilities(void);

/// getrlimit(2) and setrlimit(2), whose first parameter is an enumeration in one C library and a number in another.
int CLinuxShims_getrlimit(int resource, uint64_t *soft, uint64_t *hard);
int CLinuxShims_setrlimit(int resource, uint64_t soft, uint64_t hard);

extern const int CLinuxShims_RLIMIT_CORE;
extern const int CLinuxShims_RLIMIT_NOFILE;
extern const int CLinuxShims_RLIMIT_AS;

/// LANDLOCK_ACCESS_NET_…: to bind and to connect TCP sockets.
extern const uint64_t CLinuxShims_LANDLOCK_TCP;
/// LANDLOCK_SCOPE_…: to send signals, and to connect to abstract Unix sockets, outside of the sandbox.
extern const uint64_t CLinuxShims_LANDLOCK_SCOPE;

/// LANDLOCK_ACCESS_FS_…, those that older headers lack among them.
extern const uint64_t CLinuxShims_LANDLOCK_EXECUTE;
extern const uint64_t CLinuxShims_LANDLOCK_READ_FILE;
extern const uint64_t CLinuxShims_LANDLOCK_READ_DIR;
extern const uint64_t CLinuxShims_LANDLOCK_WRITE_FILE;
extern const uint64_t CLinuxShims_LANDLOCK_REMOVE_DIR;
extern const uint64_t CLinuxShims_LANDLOCK_REMOVE_FILE;
extern const uint64_t CLinuxShims_LANDLOCK_MAKE_CHAR;
extern const uint64_t CLinuxShims_LANDLOCK_MAKE_DIR;
extern const uint64_t CLinuxShims_LANDLOCK_MAKE_REG;
extern const uint64_t CLinuxShims_LANDLOCK_MAKE_SOCK;
extern const uint64_t CLinuxShims_LANDLOCK_MAKE_FIFO;
extern const uint64_t CLinuxShims_LANDLOCK_MAKE_BLOCK;
extern const uint64_t CLinuxShims_LANDLOCK_MAKE_SYM;
extern const uint64_t CLinuxShims_LANDLOCK_REFER;
extern const uint64_t CLinuxShims_LANDLOCK_TRUNCATE;
extern const uint64_t CLinuxShims_LANDLOCK_IOCTL_DEV;

#endif
