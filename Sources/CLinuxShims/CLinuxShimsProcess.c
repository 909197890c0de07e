#define _GNU_SOURCE
#include "CLinuxShimsProcess.h"

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

int CLinuxShims_memory_file(const char *name) { return memfd_create(name, MFD_CLOEXEC); }

void CLinuxShims_limit_heaps(int count, int mapped) {
    mallopt(M_ARENA_MAX, count);
    mallopt(M_MMAP_THRESHOLD, mapped);
}

/* Whether the loader has written into code: that would come back as it was in the file too. */
static int has_changed_code(const struct dl_phdr_info *object) {
    for (int i = 0; i < object->dlpi_phnum; i++) {
        if (object->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
        const ElfW(Dyn) *entry = (const ElfW(Dyn) *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
        for (; entry->d_tag != DT_NULL; entry++) {
            if (entry->d_tag == DT_TEXTREL) return 1;
            if (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_TEXTREL)) return 1;
        }
    }
    return 0;
}

static int release_object(struct dl_phdr_info *object, size_t size, void *unused) {
    (void)size, (void)unused;
    if (has_changed_code(object)) return 0;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        /* What can be written may have been: it would come back as it was in the file. */
        if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W)) continue;
        uintptr_t start = object->dlpi_addr + segment->p_vaddr, end = start + segment->p_memsz;
        start = (start + page - 1) & ~(page - 1);
        end &= ~(page - 1);
        if (end > start) madvise((void *)start, end - start, MADV_DONTNEED);
    }
    return 0;
}

void CLinuxShims_release_program_pages(void) { dl_iterate_phdr(release_object, NULL); }
