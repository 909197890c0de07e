#ifndef CLINUXSHIMS_PROCESS_H
#define CLINUXSHIMS_PROCESS_H

/* An anonymous file in memory, close-on-exec; -1 and errno on failure. */
int CLinuxShims_memory_file(const char *name);

/* Most heaps (malloc arenas) that the threads of this process share. To be called before the first thread starts. */
void CLinuxShims_limit_heaps(int count);

#endif
