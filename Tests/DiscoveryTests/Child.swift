import Foundation

/// A program that a test starts. It shares only its standard streams with the test.
///
/// Foundation's `Process` notices the end of a child by a descriptor that the child inherits, so it also waits for the
/// processes that the child leaves behind. A lab consists of such processes.
final class Child: Sendable {
    let pid: pid_t
    /// Owned. A write after the end of the child fails, because the tests ignore SIGPIPE.
    let input: FileHandle
    /// The child's output, line by line, until all processes that could write to it have ended.
    let lines: AsyncStream<String>
    private let status: AsyncStream<Int32>

    /// - Parameter mergesErrors: true merges standard error into standard output; false uses the tests' standard error.
    init(_ path: String, _ arguments: [String], mergesErrors: Bool = false) throws {
        signal(SIGPIPE, SIG_IGN)
        let (input, output) = (Pipe(), Pipe())
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input.fileHandleForReading.fileDescriptor, 0)
        posix_spawn_file_actions_adddup2(&actions, output.fileHandleForWriting.fileDescriptor, 1)
        if mergesErrors { posix_spawn_file_actions_adddup2(&actions, 1, 2) }
        // Descriptors that are not open are skipped.
        for file in Int32(3)..<512 { posix_spawn_file_actions_addclose(&actions, file) }

        // The child does not inherit the test runner's blocked and ignored signals.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) }
        defer { words.forEach { free($0) } }
        words.append(nil)
        var pid = pid_t()
        let code = posix_spawn(&pid, path, &actions, &attributes, words, environ)
        guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EINVAL) }
        self.pid = pid
        self.input = input.fileHandleForWriting
        try input.fileHandleForReading.close()
        try output.fileHandleForWriting.close()
        lines = Self.lines(of: output.fileHandleForReading)
        status = Self.end(of: pid)
    }

    /// Reading and waiting block, so each has its own thread.
    private static func lines(of file: FileHandle) -> AsyncStream<String> {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        Thread.detachNewThread {
            var rest = Data()
            while case let data = file.availableData, !data.isEmpty {
                rest += data
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    continuation.yield(String(decoding: rest[..<end], as: UTF8.self))
                    rest = Data(rest[rest.index(after: end)...])
                }
            }
            if !rest.isEmpty { continuation.yield(String(decoding: rest, as: UTF8.self)) }
            continuation.finish()
        }
        return stream
    }

    private static func end(of pid: pid_t) -> AsyncStream<Int32> {
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
        Thread.detachNewThread {
            var status: Int32 = 0
            while waitpid(pid, &status, 0) < 0, errno == EINTR {}
            // As in a shell: the exit code, or 128 plus the signal.
            continuation.yield(status & 0x7f == 0 ? status >> 8 & 0xff : 128 + status & 0x7f)
            continuation.finish()
        }
        return stream
    }

    /// Waits for the end of the child, not of the processes that it has left behind. Call it once.
    func exitCode() async throws -> Int32 {
        for await status in status { return status }
        throw CancellationError()
    }
}
