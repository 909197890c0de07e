import CLinuxShims
import Glibc
import Synchronization
import SystemCalls

/// A program that is started directly, without a shell, in a process group of its own. Its standard input is empty, its
/// standard error is that of this process, and its standard output is read here.
///
/// Deinit ends the program with all of its group. No `Program`: contents are read by threads that may block, and its group
/// is killed while its number is still its own.
final class ChildProgram: Sendable {
    enum Exit: Hashable, Sendable, CustomStringConvertible {
        case code(Int32)
        case signal(Int32)

        var description: String {
            switch self {
            case .code(let code): "it ended with exit code \(code)"
            case .signal(let signal): "it was ended by signal \(signal)"
            }
        }
    }

    /// The time between TERM and KILL.
    private let grace: Duration
    private static let pollInterval: Int32 = 100

    private let process: pid_t
    private let output: FileDescriptor
    private let exit = Mutex<Exit?>(nil)

    /// - Parameters:
    ///   - path: of the executable.
    ///   - environment: variables to set; the others are those of this process.
    ///   - grace: the time between TERM and KILL when it is ended.
    /// - Throws: the error of pipe(2) or posix_spawn(3).
    init(
        _ path: String, _ arguments: [String], environment: [String: String], grace: Duration = .seconds(5)
    ) throws(SystemError) {
        self.grace = grace
        var ends: [Int32] = [-1, -1]
        try systemCall { CLinuxShims_pipe(&ends) }
        output = FileDescriptor(owning: ends[0])
        let writing = FileDescriptor(owning: ends[1])
        process = try Self.spawn(path, [path] + arguments, environment, output: writing.raw)
    }

    deinit {
        end()
    }

    private static func spawn(
        _ path: String, _ words: [String], _ environment: [String: String], output: Int32
    ) throws(SystemError) -> pid_t {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigdefault(&attributes, &all)
        sigemptyset(&all)
        posix_spawnattr_setsigmask(&attributes, &all)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        var arguments = words.map { strdup($0) } + [nil]
        var variables = variables(with: environment).map { strdup($0) } + [nil]
        defer { (arguments + variables).forEach { free($0) } }
        var process: pid_t = 0
        let number = posix_spawn(&process, path, &actions, &attributes, &arguments, &variables)
        guard number == 0 else { throw SystemError(number) }
        return process
    }

    private static func variables(with added: [String: String]) -> [String] {
        var lines: [String] = []
        var place = environ
        while let line = place.pointee {
            let text = String(cString: line)
            if added[String(text.prefix { $0 != "=" })] == nil { lines.append(text) }
            place += 1
        }
        return lines + added.map { "\($0.key)=\($0.value)" }
    }

    /// Reads output as soon as there is some.
    /// - Parameter isOver: asked every 0.1 s while there is none.
    /// - Returns: the number of bytes; 0 at the end of the output, nil if it is over.
    /// - Throws: the error of read(2).
    func read(
        into buffer: UnsafeMutableRawBufferPointer, isOver: () -> Bool
    ) throws(SystemError) -> Int? {
        var waiting = pollfd(fd: output.raw, events: Int16(POLLIN), revents: 0)
        while poll(&waiting, 1, Self.pollInterval) <= 0 {
            if isOver() { return nil }
        }
        return try systemCall { Glibc.read(output.raw, buffer.baseAddress, buffer.count) }
    }

    /// Reads its output to the end.
    /// - Parameters:
    ///   - maximum: bytes; when more come the reading ends, and these are part of the result.
    ///   - isOver: asked every 0.1 s while there is no output.
    /// - Returns: nil if it is over before the end.
    /// - Throws: the error of read(2).
    func output(upTo maximum: Int, isOver: () -> Bool) throws(SystemError) -> [UInt8]? {
        var output: [UInt8] = []
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 1)
        defer { buffer.deallocate() }
        while output.count <= maximum {
            guard let count = try read(into: buffer, isOver: isOver) else { return nil }
            if count == 0 { break }
            output += buffer[..<count]
        }
        return output
    }

    /// Waits for its end.
    /// - Parameter isOver: asked every 10 ms.
    /// - Returns: nil if it is over before.
    func wait(isOver: () -> Bool) -> Exit? {
        while true {
            if let exit = look() { return exit }
            if isOver() { return nil }
            usleep(10_000)
        }
    }

    /// Ends it: with TERM, and with KILL after the time of grace. Its group gets KILL after its end too.
    func end() {
        if look() == nil {
            kill(-process, SIGTERM)
            let end = ContinuousClock.now + grace
            if wait(isOver: { ContinuousClock.now >= end }) == nil {
                kill(-process, SIGKILL)
                _ = wait { false }
            }
        }
    }

    private func look() -> Exit? {
        exit.withLock { exit in
            if let exit { return exit }
            var information = siginfo_t()
            guard waitid(P_PID, id_t(process), &information, WEXITED | WNOHANG | WNOWAIT) == 0,
                information.si_signo == SIGCHLD
            else { return nil }
            // Its number is another's only after waitpid: until then the group is surely its own.
            kill(-process, SIGKILL)
            var status: Int32 = 0
            guard waitpid(process, &status, WNOHANG) == process else { return nil }
            let signal = status & 0x7F
            exit = signal == 0 ? .code((status >> 8) & 0xFF) : .signal(signal)
            return exit
        }
    }
}
