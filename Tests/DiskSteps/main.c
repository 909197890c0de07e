// Runs a program and sees every system call by which it changes the disk, or says something on a socket: writes them
// down, and kills the program right after one of them.
//
//   disk-steps --below FOLDER [--log FILE] [--stop-after N] [--rename2 no] -- PROGRAM [ARGUMENT…]
//
// Steps are calls of the program itself (its threads included, other programs that it starts not), on things below
// FOLDER or on sockets, that did not fail; they are counted from 1 in the order in which they end, whichever thread makes
// them. That is what strace cannot do: it counts each thread's calls for itself.
//
// With --rename2 no the call renameat2 fails, as on file systems whose rename cannot refuse to replace.
//
// The log has a line when a call that syncs begins, and one when a step has ended, of fields NAME=VALUE with one space
// between them; paths and data are in hexadecimal digits:
//
//   n       the number of the step; 0 where a sync begins
//   call    its name; what belongs together has one name: `write`, `rename`, `unlink`, `mkdir`, `chmod`, `utimes`, …
//   thread  who made it
//   file    DEVICE:INODE of what was written, synced, made, moved or removed
//   folder, name      where a name was made or taken away; `from-folder`, `from-name` for what was moved or linked
//   offset, data      what was written where; `size` what it was cut or grown to, or how much was said on a socket
//   path    for people: where it lies
//
// Ends as the program does. Children that the program leaves are waited for.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <linux/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

// What the arguments of a call are, by which it is looked into.
enum form {
    OPEN_AT,      // folder, path, flags
    OPEN_AT2,     // folder, path, struct open_how
    OPEN,         // path, flags
    WRITE,        // file, bytes, count
    WRITE_AT,     // file, bytes, count, offset
    WRITE_V,      // file, vectors, count
    WRITE_V_AT,   // file, vectors, count, offset
    SAY,          // socket, …: the result says how much
    CUT,          // file, size
    GROW,         // file, mode, offset, length
    SYNC,         // file
    ON_FILE,      // file, …: its modes, times or attributes
    ON_PATH,      // path, …
    ON_PATH_AT,   // folder, path (or null), …
    MAKE,         // path, …
    MAKE_AT,      // folder, path, …
    MAKE_LINK,    // target, path
    MAKE_LINK_AT, // target, folder, path
    REMOVE,       // path
    REMOVE_AT,    // folder, path
    MOVE,         // path, path
    MOVE_AT,      // folder, path, folder, path
};

static const struct call {
    long number;
    const char *name;
    enum form form;
} calls[] = {
    {SYS_openat, "create", OPEN_AT},
    {SYS_openat2, "create", OPEN_AT2},
    {SYS_write, "write", WRITE},
    {SYS_pwrite64, "write", WRITE_AT},
    {SYS_writev, "write", WRITE_V},
    {SYS_pwritev, "write", WRITE_V_AT},
    {SYS_pwritev2, "write", WRITE_V_AT},
    {SYS_sendto, "say", SAY},
    {SYS_sendmsg, "say", SAY},
    {SYS_sendmmsg, "say", SAY},
    {SYS_ftruncate, "truncate", CUT},
    {SYS_fallocate, "fallocate", GROW},
    {SYS_fsync, "fsync", SYNC},
    {SYS_fdatasync, "fdatasync", SYNC},
    {SYS_syncfs, "syncfs", SYNC},
    {SYS_fchmod, "chmod", ON_FILE},
    {SYS_fchmodat, "chmod", ON_PATH_AT},
    {SYS_fsetxattr, "setxattr", ON_FILE},
    {SYS_fremovexattr, "removexattr", ON_FILE},
    {SYS_setxattr, "setxattr", ON_PATH},
    {SYS_lsetxattr, "setxattr", ON_PATH},
    {SYS_utimensat, "utimes", ON_PATH_AT},
    {SYS_mkdirat, "mkdir", MAKE_AT},
    {SYS_symlinkat, "symlink", MAKE_LINK_AT},
    {SYS_linkat, "link", MOVE_AT},
    {SYS_unlinkat, "unlink", REMOVE_AT},
#ifdef SYS_renameat
    {SYS_renameat, "rename", MOVE_AT},
#endif
    {SYS_renameat2, "rename", MOVE_AT},
#ifdef SYS_open
    {SYS_open, "create", OPEN},
    {SYS_creat, "create", MAKE},
    {SYS_chmod, "chmod", ON_PATH},
    {SYS_mkdir, "mkdir", MAKE},
    {SYS_symlink, "symlink", MAKE_LINK},
    {SYS_link, "link", MOVE},
    {SYS_unlink, "unlink", REMOVE},
    {SYS_rmdir, "unlink", REMOVE},
    {SYS_rename, "rename", MOVE},
#endif
};
enum { CALLS = sizeof calls / sizeof calls[0], THREADS = 4096 };

struct place {
    char path[2 * PATH_MAX];
    char name[NAME_MAX + 1];
    struct stat folder;
};

struct thread {
    pid_t id;
    bool is_ours;
    const struct call *call; // in which it is, when that is of interest
    uint64_t arguments[6];
    struct place place;      // the one that is made or removed; that of a move's target
    struct place from;
    struct stat before;      // what lay at `from`, or at `place` where it is removed
    bool existed;
};

static struct thread *threads[THREADS];
static volatile pid_t program;
static const char *below;
static FILE *log_file;
static long stop_after, steps;
static bool has_rename2 = true;

static void give_up(const char *what) {
    perror(what);
    if (program > 0) kill(program, SIGKILL);
    exit(70);
}

static void forward(int signal) {
    if (program > 0) kill(program, signal);
}

// ------------------------------------------------------------------------------------------ what the tracee means

static bool read_memory(pid_t thread, uint64_t address, void *bytes, size_t count) {
    struct iovec to = {bytes, count}, from = {(void *)(uintptr_t)address, count};
    return process_vm_readv(thread, &to, 1, &from, 1, 0) == (ssize_t)count;
}

static bool read_text(pid_t thread, uint64_t address, char *text, size_t room) {
    for (size_t count = 0; count < room; count++) {
        if (!read_memory(thread, address + count, text + count, 1)) return false;
        if (text[count] == 0) return true;
    }
    return false;
}

static bool read_link(char *path, size_t room, const char *format, ...) {
    char link[64];
    va_list list;
    va_start(list, format);
    vsnprintf(link, sizeof link, format, list);
    va_end(list);
    ssize_t count = readlink(link, path, room - 1);
    if (count < 0) return false;
    path[count] = 0;
    return true;
}

static bool look_at_file(pid_t thread, int file, struct stat *status) {
    char link[64];
    snprintf(link, sizeof link, "/proc/%d/fd/%d", thread, file);
    return stat(link, status) == 0;
}

// The folder and the name that a path means, which need not be there.
static bool resolve(pid_t thread, int folder, uint64_t address, struct place *place) {
    char path[PATH_MAX], base[PATH_MAX];
    if (!read_text(thread, address, path, sizeof path)) return false;
    if (path[0] == '/') {
        snprintf(place->path, sizeof place->path, "%s", path);
    } else {
        bool found = folder == AT_FDCWD ? read_link(base, sizeof base, "/proc/%d/cwd", thread)
                                        : read_link(base, sizeof base, "/proc/%d/fd/%d", thread, folder);
        if (!found) return false;
        snprintf(place->path, sizeof place->path, "%s/%s", base, path);
    }
    size_t length = strlen(place->path);
    while (length > 1 && place->path[length - 1] == '/') place->path[--length] = 0;
    char *slash = strrchr(place->path, '/');
    if (slash == NULL || strlen(slash + 1) > NAME_MAX) return false;
    snprintf(place->name, sizeof place->name, "%s", slash + 1);
    *slash = 0;
    bool is_there = stat(slash == place->path ? "/" : place->path, &place->folder) == 0;
    *slash = '/';
    return is_there;
}

static bool is_below(const char *path) {
    size_t length = strlen(below);
    return strncmp(path, below, length) == 0 && (path[length] == '/' || path[length] == 0);
}

// -------------------------------------------------------------------------------------------------------- the log

static void put_hex(const char *name, const void *bytes, size_t count) {
    fprintf(log_file, " %s=", name);
    for (size_t index = 0; index < count; index++) fprintf(log_file, "%02x", ((const unsigned char *)bytes)[index]);
}

static void put_file(const char *name, const struct stat *status) {
    fprintf(log_file, " %s=%lu:%lu", name, (unsigned long)status->st_dev, (unsigned long)status->st_ino);
}

static void put_place(const struct place *place, const char *folder, const char *name) {
    put_file(folder, &place->folder);
    put_hex(name, place->name, strlen(place->name));
}

static void put_vectors(pid_t thread, uint64_t address, size_t count, size_t total) {
    fprintf(log_file, " data=");
    for (size_t index = 0; index < count && total > 0; index++) {
        struct iovec vector;
        if (!read_memory(thread, address + index * sizeof vector, &vector, sizeof vector)) give_up("vectors");
        size_t length = vector.iov_len < total ? vector.iov_len : total;
        unsigned char *bytes = malloc(length + 1);
        if (length > 0 && !read_memory(thread, (uintptr_t)vector.iov_base, bytes, length)) give_up("written bytes");
        for (size_t at = 0; at < length; at++) fprintf(log_file, "%02x", bytes[at]);
        free(bytes);
        total -= length;
    }
}

static void put_bytes(pid_t thread, uint64_t address, size_t count) {
    unsigned char *bytes = malloc(count + 1);
    if (count > 0 && !read_memory(thread, address, bytes, count)) give_up("written bytes");
    put_hex("data", bytes, count);
    free(bytes);
}

// Where a file stands after a write that says not where.
static uint64_t position(pid_t thread, int file) {
    char path[64], line[128];
    unsigned long long found = 0;
    snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", thread, file);
    FILE *facts = fopen(path, "r");
    if (facts == NULL) return 0;
    while (fgets(line, sizeof line, facts) != NULL) sscanf(line, "pos: %llu", &found);
    fclose(facts);
    return found;
}

// -------------------------------------------------------------------------------------------------------- a call

// Whether the call that begins may be a step.
static bool begins(struct thread *thread, const struct call *call, const uint64_t arguments[6]) {
    thread->call = call;
    memcpy(thread->arguments, arguments, sizeof thread->arguments);
    thread->existed = false;
    char path[PATH_MAX];
    uint64_t flags = 0;
    switch (call->form) {
    case OPEN_AT: flags = arguments[2]; break;
    case OPEN: flags = arguments[1]; break;
    case OPEN_AT2: read_memory(thread->id, arguments[2], &flags, sizeof flags); break;
    default: break;
    }
    switch (call->form) {
    case OPEN_AT: case OPEN_AT2: case OPEN:
        if ((flags & (O_CREAT | O_TRUNC)) == 0 || (flags & O_TMPFILE) == O_TMPFILE) return false;
        bool is_at = call->form != OPEN;
        if (!resolve(thread->id, is_at ? (int)arguments[0] : AT_FDCWD, arguments[is_at ? 1 : 0], &thread->place)) return false;
        thread->existed = stat(thread->place.path, &thread->before) == 0;
        // One that is there and keeps what is in it is only opened.
        return is_below(thread->place.path) && (!thread->existed || flags & O_TRUNC);
    case MAKE: case REMOVE: case ON_PATH:
        if (!resolve(thread->id, AT_FDCWD, arguments[0], &thread->place)) return false;
        break;
    case MAKE_AT: case REMOVE_AT:
        if (!resolve(thread->id, (int)arguments[0], arguments[1], &thread->place)) return false;
        break;
    case ON_PATH_AT:
        if (arguments[1] == 0) {
            return read_link(path, sizeof path, "/proc/%d/fd/%d", thread->id, (int)arguments[0]) && is_below(path);
        }
        if (!resolve(thread->id, (int)arguments[0], arguments[1], &thread->place)) return false;
        break;
    case MAKE_LINK:
        if (!resolve(thread->id, AT_FDCWD, arguments[1], &thread->place)) return false;
        break;
    case MAKE_LINK_AT:
        if (!resolve(thread->id, (int)arguments[1], arguments[2], &thread->place)) return false;
        break;
    case MOVE:
        if (!resolve(thread->id, AT_FDCWD, arguments[0], &thread->from)) return false;
        if (!resolve(thread->id, AT_FDCWD, arguments[1], &thread->place)) return false;
        break;
    case MOVE_AT:
        if (!resolve(thread->id, (int)arguments[0], arguments[1], &thread->from)) return false;
        if (!resolve(thread->id, (int)arguments[2], arguments[3], &thread->place)) return false;
        break;
    default: {
        struct stat status;
        if (!look_at_file(thread->id, (int)arguments[0], &status)) return false;
        if (S_ISSOCK(status.st_mode)) return call->form >= WRITE && call->form <= SAY;
        if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) return false;
        if (!read_link(path, sizeof path, "/proc/%d/fd/%d", thread->id, (int)arguments[0]) || !is_below(path)) return false;
        if (call->form == SYNC && log_file != NULL) {
            fprintf(log_file, "n=0 call=%s thread=%d", call->name, thread->id);
            put_file("file", &status);
            fprintf(log_file, "\n");
        }
        return true;
    }
    }
    if (!is_below(thread->place.path)) return false;
    bool is_move = call->form == MOVE || call->form == MOVE_AT;
    thread->existed = lstat(is_move ? thread->from.path : thread->place.path, &thread->before) == 0;
    return true;
}

static void write_down(struct thread *thread, int64_t result) {
    const uint64_t *arguments = thread->arguments;
    struct stat status;
    char path[PATH_MAX] = "";
    fprintf(log_file, "n=%ld", steps);
    bool is_file = look_at_file(thread->id, (int)arguments[0], &status);
    bool is_socket = is_file && S_ISSOCK(status.st_mode) && thread->call->form >= WRITE && thread->call->form <= SAY;
    fprintf(log_file, " call=%s thread=%d", is_socket ? "say" : thread->call->name, thread->id);
    switch (thread->call->form) {
    case OPEN_AT: case OPEN_AT2: case OPEN: case MAKE: case MAKE_AT: case MAKE_LINK: case MAKE_LINK_AT:
        put_place(&thread->place, "folder", "name");
        if (lstat(thread->place.path, &status) == 0) {
            put_file("file", &status);
            fprintf(log_file, " mode=%o", status.st_mode);
        }
        if (thread->existed) fprintf(log_file, " size=0");
        if (S_ISLNK(status.st_mode)) {
            char target[PATH_MAX];
            ssize_t count = readlink(thread->place.path, target, sizeof target);
            put_hex("target", target, count < 0 ? 0 : (size_t)count);
        }
        break;
    case REMOVE: case REMOVE_AT:
        put_place(&thread->place, "folder", "name");
        put_file("file", &thread->before);
        break;
    case MOVE: case MOVE_AT:
        put_place(&thread->from, "from-folder", "from-name");
        put_place(&thread->place, "folder", "name");
        put_file("file", &thread->before);
        break;
    case ON_PATH: case ON_PATH_AT: case ON_FILE:
        if (thread->call->form == ON_PATH || (thread->call->form == ON_PATH_AT && arguments[1] != 0)) {
            is_file = lstat(thread->place.path, &status) == 0;
        }
        if (is_file) {
            put_file("file", &status);
            fprintf(log_file, " mode=%o modified=%ld.%09ld", status.st_mode, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
        }
        break;
    default:
        if (is_socket) {
            fprintf(log_file, " size=%ld", (long)result);
            break;
        }
        put_file("file", &status);
        switch (thread->call->form) {
        case WRITE: case WRITE_V: {
            uint64_t end = position(thread->id, (int)arguments[0]);
            fprintf(log_file, " offset=%lu", (unsigned long)(end - (uint64_t)result));
            if (thread->call->form == WRITE) put_bytes(thread->id, arguments[1], (size_t)result);
            else put_vectors(thread->id, arguments[1], arguments[2], (size_t)result);
            break;
        }
        case WRITE_AT: case WRITE_V_AT:
            fprintf(log_file, " offset=%lu", (unsigned long)arguments[3]);
            if (thread->call->form == WRITE_AT) put_bytes(thread->id, arguments[1], (size_t)result);
            else put_vectors(thread->id, arguments[1], arguments[2], (size_t)result);
            break;
        case CUT: fprintf(log_file, " size=%lu", (unsigned long)arguments[1]); break;
        case GROW: fprintf(log_file, " size=%ld", (long)status.st_size); break;
        default: break;
        }
        read_link(path, sizeof path, "/proc/%d/fd/%d", thread->id, (int)arguments[0]);
    }
    const char *shown = path[0] != 0 || is_socket ? path : thread->place.path;
    if (thread->call->form == ON_FILE) {
        read_link(path, sizeof path, "/proc/%d/fd/%d", thread->id, (int)arguments[0]);
        shown = path;
    }
    put_hex("path", shown, strlen(shown));
    fprintf(log_file, "\n");
}

static void ended(struct thread *thread, int64_t result) {
    if (result < 0) return;
    // No step comes after the one at which it was killed, though other threads may still be in one.
    if (stop_after > 0 && steps >= stop_after) return;
    steps++;
    if (log_file != NULL) write_down(thread, result);
    if (steps == stop_after) kill(program, SIGKILL);
}

// ----------------------------------------------------------------------------------------------------- the tracer

static struct thread *thread_of(pid_t id) {
    for (int index = 0; index < THREADS; index++) {
        if (threads[index] != NULL && threads[index]->id == id) return threads[index];
    }
    for (int index = 0; index < THREADS; index++) {
        if (threads[index] != NULL) continue;
        struct thread *thread = calloc(1, sizeof *thread);
        char path[64], line[128];
        int group = 0;
        snprintf(path, sizeof path, "/proc/%d/status", id);
        FILE *facts = fopen(path, "r");
        while (facts != NULL && fgets(line, sizeof line, facts) != NULL) sscanf(line, "Tgid: %d", &group);
        if (facts != NULL) fclose(facts);
        thread->id = id;
        thread->is_ours = group == program;
        return threads[index] = thread;
    }
    give_up("too many threads");
    return NULL;
}

static void forget(pid_t id) {
    for (int index = 0; index < THREADS; index++) {
        if (threads[index] == NULL || threads[index]->id != id) continue;
        free(threads[index]);
        threads[index] = NULL;
    }
}

// Stops the calls of the table, and no others: the rest of the program runs at its own speed.
static void filter_calls(void) {
    struct sock_filter filter[CALLS + 5];
    int count = 0;
    filter[count++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    if (!has_rename2) {
        filter[count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_renameat2, 0, 1);
        filter[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL);
    }
    for (int index = 0; index < CALLS; index++) {
        filter[count++] = (struct sock_filter)BPF_JUMP(
            BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[index].number, (unsigned char)(CALLS - index), 0);
    }
    filter[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    filter[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
    struct sock_fprog rules = {(unsigned short)count, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) give_up("no new privileges");
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &rules) != 0) give_up("filter");
}

static void start(char **words) {
    int gate[2];
    char byte = 0;
    if (pipe2(gate, O_CLOEXEC) != 0) give_up("pipe");
    pid_t child = fork();
    if (child < 0) give_up("fork");
    if (child == 0) {
        close(gate[1]);
        if (read(gate[0], &byte, 1) != 1) _exit(70);
        filter_calls();
        execv(words[0], words);
        give_up(words[0]);
    }
    program = child;
    long options = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK
        | PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL;
    if (ptrace(PTRACE_SEIZE, child, 0, options) != 0) give_up("trace");
    if (write(gate[1], &byte, 1) != 1) give_up("gate");
    close(gate[0]);
    close(gate[1]);
}

static void go_on(int request, pid_t id, long signal) {
    // It may be gone already.
    ptrace(request, id, 0, signal);
}

static void stopped(pid_t id, int status) {
    int event = status >> 16, signal = WSTOPSIG(status);
    struct thread *thread = thread_of(id);
    struct ptrace_syscall_info facts;
    if (event == PTRACE_EVENT_SECCOMP) {
        bool is_step = false;
        if (thread->is_ours && ptrace(PTRACE_GET_SYSCALL_INFO, id, sizeof facts, &facts) > 0) {
            for (int index = 0; index < CALLS && !is_step; index++) {
                if ((uint64_t)calls[index].number != facts.seccomp.nr) continue;
                uint64_t arguments[6];
                for (int place = 0; place < 6; place++) arguments[place] = facts.seccomp.args[place];
                is_step = begins(thread, &calls[index], arguments);
                break;
            }
        }
        if (!is_step) thread->call = NULL;
        go_on(is_step ? PTRACE_SYSCALL : PTRACE_CONT, id, 0);
    } else if (event == PTRACE_EVENT_STOP) {
        go_on(signal == SIGTRAP ? PTRACE_CONT : PTRACE_LISTEN, id, 0);
    } else if (event != 0) {
        go_on(PTRACE_CONT, id, 0);
    } else if (signal == (SIGTRAP | 0x80)) {
        if (thread->call != NULL && ptrace(PTRACE_GET_SYSCALL_INFO, id, sizeof facts, &facts) > 0) {
            ended(thread, facts.exit.rval);
        }
        thread->call = NULL;
        go_on(PTRACE_CONT, id, 0);
    } else {
        go_on(PTRACE_CONT, id, signal);
    }
}

int main(int count, char **words) {
    int first = 1;
    for (; first + 1 < count && strcmp(words[first], "--") != 0; first += 2) {
        if (strcmp(words[first], "--below") == 0) {
            below = words[first + 1];
        } else if (strcmp(words[first], "--stop-after") == 0) {
            stop_after = atol(words[first + 1]);
        } else if (strcmp(words[first], "--rename2") == 0) {
            has_rename2 = strcmp(words[first + 1], "no") != 0;
        } else if (strcmp(words[first], "--log") == 0) {
            log_file = fopen(words[first + 1], "we");
            if (log_file == NULL) give_up(words[first + 1]);
        } else {
            break;
        }
    }
    if (below == NULL || first + 1 >= count || strcmp(words[first], "--") != 0) {
        fprintf(stderr, "disk-steps --below FOLDER [--log FILE] [--stop-after N] -- PROGRAM [ARGUMENT…]\n");
        return 64;
    }
    start(words + first + 1);
    struct sigaction action = {.sa_handler = forward, .sa_flags = SA_RESTART};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    int outcome = 0;
    while (true) {
        int status;
        pid_t id = waitpid(-1, &status, __WALL);
        if (id < 0 && errno == EINTR) continue;
        if (id < 0) break;
        if (WIFSTOPPED(status)) {
            stopped(id, status);
            continue;
        }
        forget(id);
        if (id == program) outcome = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    if (log_file != NULL && fclose(log_file) != 0) give_up("log");
    return outcome;
}
