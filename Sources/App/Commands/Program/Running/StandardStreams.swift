import Glibc

/// Standard input, output and error of the program.
enum StandardStreams {
    /// Opens `/dev/null` as each of the three that is closed, before the program opens anything else. Otherwise a file,
    /// timer or socket of the program would get that number, and would be read or written as the stream.
    ///
    /// Reading from such an input, and writing to such an output, fails as if the stream were still closed.
    static func reserve() {
        let streams = [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
        for (descriptor, direction) in streams where fcntl(descriptor, F_GETFD) < 0 {
            // The kernel gives the lowest number that is free: this one.
            _ = open("/dev/null", direction)
        }
    }
}
