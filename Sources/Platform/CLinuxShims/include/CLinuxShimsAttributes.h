#ifndef CLINUXSHIMS_ATTRIBUTES_H
#define CLINUXSHIMS_ATTRIBUTES_H

#include <stddef.h>
#include <sys/types.h>

/* fsetxattr(2) without flags; -1 and errno on failure. */
int CLinuxShims_set_attribute(int file, const char *name, const void *value, size_t size);

/* setxattr(2) and removexattr(2), links being followed; -1 and errno on failure. */
int CLinuxShims_setxattr(const char *path, const char *name, const void *value, size_t size, int flags);
int CLinuxShims_removexattr(const char *path, const char *name);

/* lgetxattr(2): the size, or -1 and errno. */
ssize_t CLinuxShims_get_attribute(const char *path, const char *name, void *value, size_t size);

#endif
