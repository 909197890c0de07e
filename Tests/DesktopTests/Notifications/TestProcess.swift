import Foundation
import TestSupport

/// A program that a test runs beside itself. It ends with the test process, even if that crashes.
final class TestProcess: Sendable {
    /// The lines of its standard output.
    let lines = Recorder<String>()
    private let input: FileHandle
    private let ended = Gate()

    /// - Parameter environment: all of it.
    init(_ path: String, _ arguments: [String], environment: [String: String] = [:]) throws {
        let (input, output) = (Pipe(), Pipe())
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input.fileHandleForReading.fileDescriptor, 0)
        posix_spawn_file_actions_adddup2(&actions, output.fileHandleForWriting.fileDescriptor, 1)
        // Those that are not open are passed over.
        for file in Int32(3)..<512 { posix_spawn_file_actions_addclose(&actions, file) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        // The shell ends the program when its own standard input comes to an end, and is itself ended by the program.
        let script =
            "\"$@\" 2>&1 </dev/null & p=$!; (read -r x; kill -9 $p) <&3 2>/dev/null & w=$!; exec 3<&-; wait $p; kill $w"
        let words = ["/bin/sh", "-c", "exec 3<&0 2>/dev/null; " + script, "sh", path] + arguments
        var pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] =
            environment.merging(["PATH": "/usr/bin:/bin"]) { given, _ in given }.map { strdup("\($0)=\($1)") } + [nil]
        defer { (pointers + variables).forEach { free($0) } }
        var pid = pid_t()
        let code = posix_spawn(&pid, "/bin/sh", &actions, &attributes, &pointers, &variables)
        guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EINVAL) }
        self.input = input.fileHandleForWriting
        try input.fileHandleForReading.close()
        try output.fileHandleForWriting.close()
        let (reading, lines, ended) = (output.fileHandleForReading, lines, ended)
        let child = pid
        // Reading and waiting block.
        Thread.detachNewThread {
            var rest = Data()
            while case let data = reading.availableData, !data.isEmpty {
                rest += data
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    lines.record(String(decoding: rest[..<end], as: UTF8.self))
                    rest = Data(rest[rest.index(after: end)...])
                }
            }
            var status: Int32 = 0
            while waitpid(child, &status, 0) < 0, errno == EINTR {}
            ended.open()
        }
    }

    deinit {
        try? input.close()
    }

    /// Kills it, and waits until it is gone.
    func kill() async {
        try? input.close()
        await ended.wait()
    }

    /// Waits until it has ended by itself.
    func end() async -> [String] {
        await ended.wait()
        return lines.all
    }
}
