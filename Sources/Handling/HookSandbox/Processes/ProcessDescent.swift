import Glibc

/// Whether a process acts for the user, or Waft started it or an ancestor of it because of received items.
///
/// A handler has the user's uid, so the uid proves nothing. The ancestors of each handler include one of Waft's
/// launchers, which stays and adopts the processes that the handler leaves behind.
package enum ProcessDescent: Hashable, Sendable {
    /// It does not descend from a handler.
    case user
    /// It is a launcher, or descends from one.
    case handler
    /// It descends from a receiver that has started a handler without a launcher, or has opened something.
    case receiver
    /// Unknown; one line with the reason.
    case unknown(String)

    /// Maximum number of ancestors to look at; no honest program has more.
    private static let maximumDepth = 1_024
    /// Maximum number of walks: a walk starts again if an ancestor ends meanwhile.
    private static let maximumTries = 16

    /// Walks from a process up to the first process of its namespace.
    ///
    /// - Parameters:
    ///   - process: its id in this process's namespace.
    ///   - receiver: the process id of a receiver, if known; other receivers are recognised by their program.
    ///   - isThere: whether the process still lives. It is called once the process's folder in /proc is open: then the
    ///     folder is not that of a later process with the same id.
    package static func of(
        _ process: Int32, receiver: Int32? = nil, isThere: () -> Bool = { true }
    ) -> ProcessDescent {
        // The id is 0 if the process runs in a namespace that this one cannot see.
        guard process > 0 else { return .unknown("it runs in a container that the receiver cannot look into") }
        guard ProcessFolder.isOfThisNamespace else {
            return .unknown("/proc is missing, or belongs to another namespace")
        }
        for _ in 0..<maximumTries {
            guard let first = ProcessFolder(process), isThere() else { return .unknown("it has ended") }
            if let descent = walk(from: first, receiver) { return descent }
        }
        return .unknown("the processes above it end faster than they can be looked at")
    }

    /// - Returns: nil if an ancestor has ended, since its children now have another parent.
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
                // /proc can hide other users' processes: this one is not the user's, and so no launcher.
                if errno == EPERM { return .user }
                return nil
            }
            guard let isLauncher = parent.isLauncher else { return nil }
            let isReceiver = parent.isWaft && !parent.isDesk
            // If it is still the parent, its id was not reused meanwhile.
            guard child.parent == number else { return nil }
            if isLauncher { return .handler }
            if isReceiver { return .receiver }
            child = parent
        }
        return .unknown("there are too many processes above it")
    }
}

/// The folder of one process in /proc. Once the process has ended, nothing can be read, even if its id is reused.
private final class ProcessFolder {
    private let descriptor: Int32

    /// Maximum bytes read of a command line: the path of a launcher's program and its first argument.
    private static let commandBytes = 8_192
    private static let statusBytes = 1_024

    /// - Returns: nil if the process has ended or /proc does not show it.
    init?(_ process: pid_t) {
        descriptor = open("/proc/\(process)", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if descriptor < 0 { return nil }
    }

    deinit { close(descriptor) }

    /// Whether /proc is that of this process's namespace.
    static var isOfThisNamespace: Bool {
        var bytes = [CChar](repeating: 0, count: 32)
        let count = readlink("/proc/self", &bytes, bytes.count - 1)
        guard count > 0 else { return false }
        return String(decoding: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self) == "\(getpid())"
    }

    /// The parent's process id, 0 for the first process; nil if this process has ended.
    var parent: pid_t? {
        // `number (name) state parent …`, and the name may contain anything.
        guard let status = read("stat", Self.statusBytes), let end = status.lastIndex(of: UInt8(ascii: ")")) else {
            return nil
        }
        let fields = status[(end + 1)...].split(separator: UInt8(ascii: " "))
        return fields.count > 1 ? pid_t(String(decoding: fields[1], as: UTF8.self)) : nil
    }

    /// Whether Waft started this process as a launcher; nil if it has ended.
    var isLauncher: Bool? {
        guard let command = read("cmdline", Self.commandBytes) else { return nil }
        let words = command.split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
        return words.count > 1 && words[1].elementsEqual(SandboxPlan.verb.utf8)
    }

    /// Whether its program is one of Waft's: this one's own file by any name, or one of that name. A process whose program may not be seen is another user's, or a receiver that
    /// has private keys in memory: then its name decides, which nobody else can change.
    var isWaft: Bool {
        var (own, other) = (stat(), stat())
        if stat("/proc/self/exe", &own) == 0, fstatat(descriptor, "exe", &other, 0) == 0, own.st_dev == other.st_dev,
            own.st_ino == other.st_ino
        {
            return true
        }
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlinkat(descriptor, "exe", &bytes, bytes.count)
        guard count > 0 else {
            guard errno == EACCES, let name = read("comm", Self.statusBytes) else { return false }
            return ["waft\n", "waftd\n"].contains(String(decoding: name, as: UTF8.self))
        }
        // The kernel adds ` (deleted)` if the program was replaced since its start.
        let path = bytes[..<count].map(UInt8.init(bitPattern:))
        let name = String(decoding: path.split(separator: UInt8(ascii: "/")).last ?? [], as: UTF8.self)
        return ["waft", "waftd", "waft (deleted)", "waftd (deleted)"].contains(name)
    }

    /// Whether it is `waft desk`, which runs verbs for the user and receives nothing. It must not descend from a handler or a
    /// receiver either: the walk goes on above it.
    var isDesk: Bool {
        guard let command = read("cmdline", Self.commandBytes) else { return false }
        let words = command.split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
        return words.count > 1 && words[1].elementsEqual(Self.desk.utf8)
    }

    private static let desk = "desk"

    private func read(_ name: String, _ limit: Int) -> [UInt8]? {
        let file = openat(descriptor, name, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = Glibc.read(file, &bytes, limit)
        return count >= 0 ? Array(bytes[..<count]) : nil
    }
}
