import Foundation
import Subprocess
import Testing

/// Clocks of programs that a test moves while they run; the machine's own clocks stay unchanged.
///
/// A preloaded library adds the value in a file to the kernel's time. Timers of the
/// kernel are unchanged: they measure the real time.
struct MovedClocks: Sendable {
    private let file: String
    private let library: String

    private static let source = """
        #define _GNU_SOURCE
        #include <fcntl.h>
        #include <stdlib.h>
        #include <sys/mman.h>
        #include <sys/syscall.h>
        #include <sys/time.h>
        #include <time.h>
        #include <unistd.h>
        static volatile long long *added;
        __attribute__((constructor)) static void begin(void) {
            const char *path = getenv("WAFT_TEST_CLOCKS");
            int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
            void *place = file < 0 ? MAP_FAILED : mmap(0, 16, PROT_READ, MAP_SHARED, file, 0);
            if (file >= 0) close(file);
            if (place != MAP_FAILED) added = place;
        }
        int clock_gettime(clockid_t clock, struct timespec *time) {
            int failed = syscall(SYS_clock_gettime, clock, time);
            if (failed || !added) return failed;
            if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) time->tv_sec += added[0];
            if (clock == CLOCK_BOOTTIME) time->tv_sec += added[1];
            return 0;
        }
        int gettimeofday(struct timeval *now, void *zone) {
            struct timespec time;
            clock_gettime(CLOCK_REALTIME, &time);
            now->tv_sec = time.tv_sec;
            now->tv_usec = time.tv_nsec / 1000;
            return 0;
        }
        time_t time(time_t *now) {
            struct timespec time;
            clock_gettime(CLOCK_REALTIME, &time);
            if (now) *now = time.tv_sec;
            return time.tv_sec;
        }
        """

    /// - Parameter folder: an existing one.
    init(in folder: String) async throws {
        file = folder + "/clocks"
        library = folder + "/clocks.so"
        try Self.source.write(toFile: folder + "/clocks.c", atomically: false, encoding: .utf8)
        let host = Host(home: folder)
        // The compiler of Swift's own toolchain.
        let built = try await host.run(
            "/usr/bin/env", ["clang", "-shared", "-fPIC", "-O1", "-o", library, folder + "/clocks.c"])
        try #require(built.exit == 0, "\(built.errors)")
        set(0)
    }

    /// Sets the wall clock to the real time plus this number of seconds.
    /// - Parameter asleep: additional seconds that the machine seems to have slept.
    func set(_ seconds: Int64, asleep: Int64 = 0) {
        // In place: programs have mapped the file.
        let raw = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(raw) }
        withUnsafeBytes(of: (seconds, asleep)) { _ = pwrite(raw, $0.baseAddress, $0.count, 0) }
    }

    /// The same host, with these clocks.
    func on(_ host: Host) -> Host {
        var host = host
        host.environment["LD_PRELOAD"] = library
        host.environment["WAFT_TEST_CLOCKS"] = file
        return host
    }
}
