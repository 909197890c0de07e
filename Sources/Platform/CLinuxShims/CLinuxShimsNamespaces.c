#define _GNU_SOURCE
#include "CLinuxShimsNamespaces.h"

#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>

int CLinuxShims_unshare_mounts(void) { return unshare(CLONE_NEWNS); }

int CLinuxShims_make_mounts_private(void) { return mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL); }

int CLinuxShims_mount_tmpfs(const char *target, const char *size) {
    char options[64];
    snprintf(options, sizeof options, "size=%s", size);
    return mount("tmpfs", target, "tmpfs", 0, options);
}

int CLinuxShims_mount_bind(const char *source, const char *target) { return mount(source, target, NULL, MS_BIND, NULL); }
