/* measure FILE PROGRAM [WORD…]: runs a program, and writes its use to FILE: seconds of its own time, seconds of the kernel's,
 * KiB of memory at most. A child inherits the peak of the process that forks it, so an interpreter cannot do this. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t child;

static void pass_on(int number) { kill(child, number); }

int main(int count, char **words) {
    if (count < 3) return 64;
    struct sigaction action = {.sa_handler = pass_on};
    sigset_t both, before;
    sigemptyset(&both);
    sigaddset(&both, SIGTERM);
    sigaddset(&both, SIGINT);
    /* A signal that arrives before the child exists waits for it. */
    sigprocmask(SIG_BLOCK, &both, &before);
    child = fork();
    if (child < 0) return 1;
    if (child == 0) {
        /* A shell starts background programs with SIGINT ignored; programs inherit this, and Waft respects it. */
        signal(SIGINT, SIG_DFL);
        sigprocmask(SIG_SETMASK, &before, NULL);
        execvp(words[2], words + 2);
        perror(words[2]);
        _exit(127);
    }
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    int status;
    struct rusage used;
    while (wait4(child, &status, 0, &used) < 0)
        if (errno != EINTR) return 1;
    FILE *file = fopen(words[1], "w");
    if (!file) return 1;
    fprintf(file, "%ld.%06ld %ld.%06ld %ld\n", used.ru_utime.tv_sec, used.ru_utime.tv_usec, used.ru_stime.tv_sec,
            used.ru_stime.tv_usec, used.ru_maxrss);
    if (fclose(file)) return 1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
