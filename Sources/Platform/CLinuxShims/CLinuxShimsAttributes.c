#include "CLinuxShimsAttributes.h"

#include <sys/xattr.h>

int CLinuxShims_set_attribute(int file, const char *name, const void *value, size_t size) {
    return fsetxattr(file, name, value, size, 0);
}

int CLinuxShims_setxattr(const char *path, const char *name, const void *value, size_t size, int flags) {
    return setxattr(path, name, value, size, flags);
}

int CLinuxShims_removexattr(const char *path, const char *name) { return removexattr(path, name); }

ssize_t CLinuxShims_get_attribute(const char *path, const char *name, void *value, size_t size) {
    return lgetxattr(path, name, value, size);
}
