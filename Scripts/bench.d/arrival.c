// The handler of the case `delivery`: prints the milliseconds from the first byte of the item on the disk to its own first line.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

int main(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const char *path = getenv("WAFT_FILE");
    struct statx item;
    if (!path || statx(AT_FDCWD, path, 0, STATX_BTIME, &item) != 0 || !(item.stx_mask & STATX_BTIME)) return 2;
    printf("%.3f\n", (now.tv_sec - item.stx_btime.tv_sec) * 1e3 + (now.tv_nsec - (double)item.stx_btime.tv_nsec) / 1e6);
    return 0;
}
