// Namespaces: what tests need to mount things that nobody else sees.
#ifndef CLINUXSHIMS_NAMESPACES_H
#define CLINUXSHIMS_NAMESPACES_H

/// unshare(2) with CLONE_NEWNS: this process's mounts are its own from here on, once they have been made private.
int CLinuxShims_unshare_mounts(void);

/// Mounts that are made from here on are seen by this mount namespace alone: mount(2) of `/` with MS_REC | MS_PRIVATE.
int CLinuxShims_make_mounts_private(void);

/// mount(2) of a tmpfs of at most `size` (in the words of its `size=` option).
int CLinuxShims_mount_tmpfs(const char *target, const char *size);

/// mount(2) with MS_BIND.
int CLinuxShims_mount_bind(const char *source, const char *target);

#endif
