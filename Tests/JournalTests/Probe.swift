import Glibc
import Testing

/// A journal in a separate process: `journal-probe`, which is in the same folder as the tests.
///
/// The process is killed with the last reference, if it has not ended before.
final class Probe {
    private let process: pid_t
    /// Owned: the other end of its standard input and output.
    private let stream: Int32
    private var unread: [UInt8] = []
    private var status: Int32?

    init(_ arguments: String...) throws {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        stream = ends[0]
        defer { close(ends[1]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        let argv: [UnsafeMutablePointer<CChar>?] = ([Self.program] + arguments).map { strdup($0) } + [nil]
        defer { for text in argv { free(text) } }
        var process: pid_t = 0
        let cause = posix_spawn(&process, Self.program, &actions, nil, argv, environ)
        self.process = process
        if cause != 0 { status = 0 }
        try #require(cause == 0, "\(Self.program): \(String(cString: strerror(cause)))")
    }

    deinit {
        kill()
        close(stream)
    }

    private static let program: String = {
        guard let path = realpath("/proc/self/exe", nil) else { return "/journal-probe" }
        defer { free(path) }
        return String(cString: path).split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/journal-probe"
    }()

    /// The next complete line of its output; nil at the end.
    func line() -> String? {
        while true {
            if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                defer { unread.removeSubrange(...end) }
                return String(decoding: unread[..<end], as: UTF8.self)
            }
            var buffer = [UInt8](repeating: 0, count: 4_096)
            let count = read(stream, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            unread += buffer[..<count]
        }
    }

    func endInput() {
        shutdown(stream, Int32(SHUT_WR))
    }

    /// Kills the process, as a power cut would, and waits for its end. Its earlier output can still be read.
    func kill() {
        if status != nil { return }
        _ = Glibc.kill(process, SIGKILL)
        _ = wait()
    }

    /// - Returns: its exit code, or minus the signal that ended it.
    func wait() -> Int32 {
        if status == nil {
            var status: Int32 = 0
            while waitpid(process, &status, 0) < 0, errno == EINTR {}
            self.status = status
        }
        let status = status ?? 0
        return status & 0x7f == 0 ? (status >> 8) & 0xff : -(status & 0x7f)
    }
}
