import Glibc

/// Why a process may not decide for the user: Waft started it, or a process above it, for what others have sent.
///
/// A handler has the user's uid, so that the uid alone says nothing. Each handler has a launcher of Waft's above it, which
/// stays there and inherits what the handler leaves behind.
package enum ProcessDescent: Hashable, Sendable {
    /// No handler is above it.
    case user
    /// A launcher is above it, or it is one.
    case handler
    /// A program of Waft is above it: a receiver that has started a handler without a launcher, or has opened something.
    case receiver
    /// It cannot be told; one line, why.
    case unknown(String)

    /// Processes above another one that are looked at; more are no honest program's.
    private static let maximumDepth = 1_024
    /// Walks that are begun anew because a process ended on the way.
    private static let maximumTries = 16

    /// Walks from a process up to the first one of its namespace.
    ///
    /// - Parameters:
    ///   - process: its number in this process's namespace.
    ///   - receiver: the number of a receiver, where that is known; others are known by their program.
    ///   - isThere: whether the process still lives: asked once its folder in /proc is open, so that the folder is not that
    ///     of another process to which the number has been given since.
    package static func of(
        _ process: Int32, receiver: Int32? = nil, isThere: () -> Bool = { true }
    ) -> ProcessDescent {
        // A process of a namespace that this one cannot see into has the number 0.
        guard process > 0 else { return .unknown("it runs in a container that the receiver cannot look into") }
        guard ProcessFolder.isOfThisNamespace else { return .unknown("/proc is not there, or another namespace's") }
        for _ in 0..<maximumTries {
            guard let first = ProcessFolder(process), isThere() else { return .unknown("it has ended") }
            if let descent = walk(from: first, receiver) { return descent }
        }
        return .unknown("the processes above it end faster than they can be looked at")
    }

    /// - Returns: nil where a process on the way has ended: its children have another parent now.
    private static func walk(from first: ProcessFolder, _ receiver: Int32?) -> ProcessDescent? {
        guard let isLauncher = first.isLauncher else { return nil }
        if isLauncher { return .handler }
        var child = first
        for _ in 0..<maximumDepth {
            guard let number = child.parent else { return nil }
            if number == 0 { return .user }
            if number == receiver { return .receiver }
            guard let parent = ProcessFolder(number) else {
                if kill(number, 0) == 0 { return .unknown("/proc does not show process \(number), which is above it") }
                // Hidden, as /proc can be set up to hide other users' processes: not the user's, and so no launcher.
                if errno == EPERM { return .user }
                return nil
            }
            guard let isLauncher = parent.isLauncher else { return nil }
            let isWaft = parent.isWaft
            // Still its parent: so the number was that of its parent all the time, and not another process's.
            guard child.parent == number else { return nil }
            if isLauncher { return .handler }
            if isWaft { return .receiver }
            child = parent
        }
        return .unknown("there are too many processes above it")
    }
}

/// The folder of one process in /proc. It stays that of this process: where the process has gone, nothing can be read.
private final class ProcessFolder {
    private let descriptor: Int32

    /// Bytes of a command line that are looked at: the path of a launcher's program and its first argument.
    private static let commandBytes = 8_192
    private static let statusBytes = 1_024

    /// - Returns: nil where it has gone, or /proc does not show it.
    init?(_ process: pid_t) {
        descriptor = open("/proc/\(process)", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if descriptor < 0 { return nil }
    }

    deinit { close(descriptor) }

    /// Whether /proc counts processes as this process does.
    static var isOfThisNamespace: Bool {
        var bytes = [CChar](repeating: 0, count: 32)
        let count = readlink("/proc/self", &bytes, bytes.count - 1)
        guard count > 0 else { return false }
        return String(decoding: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self) == "\(getpid())"
    }

    /// The parent's number, 0 above the first process; nil where this process has gone.
    var parent: pid_t? {
        // `number (name) state parent …`, and the name may contain anything.
        guard let status = read("stat", Self.statusBytes), let end = status.lastIndex(of: UInt8(ascii: ")")) else {
            return nil
        }
        let fields = status[(end + 1)...].split(separator: UInt8(ascii: " "))
        return fields.count > 1 ? pid_t(String(decoding: fields[1], as: UTF8.self)) : nil
    }

    /// Whether Waft started this process as a launcher; nil where it has gone.
    var isLauncher: Bool? {
        guard let command = read("cmdline", Self.commandBytes) else { return nil }
        let words = command.split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
        return words.count > 1 && words[1].elementsEqual(SandboxPlan.verb.utf8)
    }

    /// Whether its program is one of Waft's. No for what may not be looked at: that is another user's.
    var isWaft: Bool {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlinkat(descriptor, "exe", &bytes, bytes.count)
        guard count > 0 else { return false }
        // A program that has been replaced since it was started ends with ` (deleted)`.
        let path = bytes[..<count].map(UInt8.init(bitPattern:))
        let name = String(decoding: path.split(separator: UInt8(ascii: "/")).last ?? [], as: UTF8.self)
        return ["waft", "waftd", "waft (deleted)", "waftd (deleted)"].contains(name)
    }

    private func read(_ name: String, _ limit: Int) -> [UInt8]? {
        let file = openat(descriptor, name, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = Glibc.read(file, &bytes, limit)
        return count >= 0 ? Array(bytes[..<count]) : nil
    }
}
