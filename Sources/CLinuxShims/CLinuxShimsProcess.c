#define _GNU_SOURCE
#include "CLinuxShimsProcess.h"

#include <malloc.h>
#include <sys/mman.h>

int CLinuxShims_memory_file(const char *name) { return memfd_create(name, MFD_CLOEXEC); }

void CLinuxShims_limit_heaps(int count) { mallopt(M_ARENA_MAX, count); }
