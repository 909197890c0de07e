#ifndef CLINUXSHIMS_PROCESS_H
#define CLINUXSHIMS_PROCESS_H

/* An anonymous file in memory, close-on-exec; -1 and errno on failure. */
int CLinuxShims_memory_file(const char *name);

/* Most heaps (malloc arenas) that the threads of this process share. To be called before the first thread starts. */
/* Blocks of `mapped` bytes and more are mapped on their own and given back to the system when they are freed. */
void CLinuxShims_limit_heaps(int count, int mapped);

/* Unmaps the pages of code and constants of the program and its libraries. Those that are needed again come back from
   the page cache, each by a fault of about a microsecond; those that only the start has needed do not. */
void CLinuxShims_release_program_pages(void);

#endif
