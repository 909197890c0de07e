import CLinuxShims
import Glibc

/// Carries out changes of mode, owner, times and labels for a hook, in the places where it may write and nowhere else.
///
/// The hook chooses the paths. Each is opened beneath an open writable place, and the kernel lets no path out of it. So
/// the hook reaches no file and no file system elsewhere, even if it makes links meanwhile.
struct AttributeWarden: ~Copyable {
    /// A place where the hook may write.
    private struct Root {
        /// Owned, open as long as the warden exists.
        let file: Int32
        let isFolder: Bool
        /// The components of its path: as it was named, and without links.
        let names: [[String]]
    }

    /// Bytes of a path with its NUL: PATH_MAX.
    private static let maximumPath = 4096
    /// Bytes: XATTR_NAME_MAX with its NUL, and XATTR_SIZE_MAX.
    private static let maximumLabelName = 256
    private static let maximumLabel = 65_536

    private let places: [Root]

    /// - Parameter paths: the hook's writable paths; a missing one is skipped.
    init(_ paths: [String]) {
        places = paths.compactMap { path in
            guard let place = try? OpenPath.make(path) else { return nil }
            let file = fcntl(place.file, F_DUPFD_CLOEXEC, 3)
            guard file >= 0 else { return nil }
            return Root(
                file: file, isFolder: place.isFolder, names: [Self.parts(path), Self.parts(place.path)])
        }
    }

    deinit { for place in places { close(place.file) } }

    /// - Parameters:
    ///   - thread: the thread that made the call and waits for its answer.
    ///   - isWaiting: whether the same thread still waits; called right before the change.
    /// - Throws: `CallError` with the errno for the hook.
    func carryOut(_ call: AttributeCall, thread: pid_t, isWaiting: () -> Bool) throws(CallError) {
        let memory = try CallerMemory(thread: thread)
        let file = try locate(call.target, thread, memory)
        defer { close(file) }
        let change = try Change(call.change, memory)
        guard isWaiting() else { throw .refused }
        guard change.apply(to: file) else { throw .last }
    }

    // MARK: Finding the file

    /// - Returns: a descriptor opened with O_PATH; the caller closes it.
    private func locate(
        _ target: AttributeCall.Target, _ thread: pid_t, _ memory: borrowing CallerMemory
    ) throws(CallError) -> Int32 {
        switch target {
        case .open(let descriptor): return try locate(descriptor, thread)
        case .path(let address, let folder, let followsLink, let canBeEmpty):
            let bytes = try memory.text(at: address, maximum: Self.maximumPath, tooLong: ENAMETOOLONG)
            if bytes.isEmpty {
                guard canBeEmpty else { throw CallError(number: ENOENT) }
                return try locate(folder, thread)
            }
            // Places are compared as text: a path that is not UTF-8 is in none, and is refused.
            guard let path = String(validating: bytes, as: UTF8.self) else { throw .refused }
            if followsLink, let descriptor = Self.descriptor(in: path, thread) {
                return try locate(descriptor, thread)
            }
            let base = path.utf8.first == UInt8(ascii: "/") ? "" : try Self.link(Self.name(of: folder, thread)) + "/"
            return try open(base + path, followsLink)
        }
    }

    /// Opens the file of one of the hook's descriptors, or the hook's working directory.
    private func locate(_ descriptor: Int32, _ thread: pid_t) throws(CallError) -> Int32 {
        let file = CLinuxShims_open_place(Self.name(of: descriptor, thread))
        guard file >= 0 else { throw CallError(number: EBADF) }
        // No hook can link or rename a file of another place into its own, so the kernel's path of the file is right. But
        // the path in a mount that is attached nowhere begins at that mount.
        if let path = try? Self.link("/proc/self/fd/\(file)"), let (place, rest) = place(Self.parts(path), last: 1),
            Self.mount(of: file) == Self.mount(of: place.file) || Self.isReached(file, from: place, by: rest)
        {
            return file
        }
        close(file)
        throw .refused
    }

    /// Whether a path beneath a place leads to a file: also through a mount in the place.
    private static func isReached(_ file: Int32, from place: Root, by rest: [String]) -> Bool {
        guard place.isFolder, !rest.isEmpty else { return false }
        let found = CLinuxShims_open_place_beneath(place.file, rest.joined(separator: "/"), 0)
        guard found >= 0 else { return false }
        defer { close(found) }
        var (first, second) = (stat(), stat())
        return mount(of: file) == mount(of: found) && fstat(file, &first) == 0 && fstat(found, &second) == 0
            && (first.st_dev, first.st_ino) == (second.st_dev, second.st_ino)
    }

    /// The number of the mount of an open file; one that equals no other if it cannot be read.
    private static func mount(of file: Int32) -> UInt64 {
        var number: UInt64 = 0
        return CLinuxShims_mount_id(file, &number) == 0 ? number : UInt64.max - UInt64(UInt32(bitPattern: file))
    }

    private func open(_ path: String, _ followsLink: Bool) throws(CallError) -> Int32 {
        let parts = Self.parts(path)
        // If no place matches, try the path without `..`. The kernel decides in any case which file it is.
        guard let found = place(parts) ?? place(Self.withoutParents(parts)) else { throw .refused }
        guard found.place.isFolder else { return fcntl(found.place.file, F_DUPFD_CLOEXEC, 3) }
        let rest = found.rest.isEmpty ? "." : found.rest.joined(separator: "/")
        let isFolder = path.hasSuffix("/") || found.rest.last == ".."
        let file = CLinuxShims_open_place_beneath(found.place.file, isFolder ? rest + "/" : rest, followsLink ? 1 : 0)
        if file >= 0 { return file }
        throw errno == EXDEV || errno == EAGAIN ? .refused : .last
    }

    /// The place of a path, and the rest of the path. If `last` is 1, only the places' paths without links count.
    private func place(_ parts: [String], last: Int = 0) -> (place: Root, rest: [String])? {
        for place in places {
            for name in place.names.suffix(last == 0 ? 2 : last) where parts.starts(with: name) {
                if place.isFolder || parts.count == name.count { return (place, Array(parts.dropFirst(name.count))) }
            }
        }
        return nil
    }

    private static func parts(_ path: String) -> [String] {
        path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }.filter { $0 != "." }
    }

    private static func withoutParents(_ parts: [String]) -> [String] {
        parts.reduce(into: []) { if $1 == ".." { _ = $0.popLast() } else { $0.append($1) } }
    }

    /// The path in /proc of one of the hook's descriptors.
    private static func name(of descriptor: Int32, _ thread: pid_t) -> String {
        // AT_FDCWD
        descriptor == -100 ? "/proc/\(thread)/cwd" : "/proc/\(thread)/fd/\(descriptor)"
    }

    /// The descriptor that a path names through /proc or /dev/fd, as the C library does if the kernel lacks a call.
    private static func descriptor(in path: String, _ thread: pid_t) -> Int32? {
        for prefix in ["/proc/self/fd/", "/proc/thread-self/fd/", "/proc/\(thread)/fd/", "/dev/fd/"] {
            if path.hasPrefix(prefix) { return Int32(path.dropFirst(prefix.count)) }
        }
        return nil
    }

    private static func link(_ path: String) throws(CallError) -> String {
        var bytes = [CChar](repeating: 0, count: maximumPath)
        let count = readlink(path, &bytes, bytes.count)
        guard count > 0 else { throw CallError(number: EBADF) }
        guard count < maximumPath,
            let text = String(
                validating: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
        else { throw .refused }
        return text
    }
}

/// A change with its arguments, copied from the hook's memory.
private enum Change {
    /// AT_EMPTY_PATH
    private static let emptyPath: Int32 = 0x1000

    case mode(UInt32)
    case owner(user: UInt32, group: UInt32)
    /// Access and modification time; nil for the current time.
    case times([timespec]?)
    case setLabel(name: [CChar], value: [UInt8], flags: Int32)
    case removeLabel(name: [CChar])

    /// - Throws: `CallError`: EFAULT, EPERM (also for a set-user-ID bit), or E2BIG, ERANGE or EINVAL for a value out of
    ///   bounds.
    init(_ change: AttributeCall.Change, _ memory: borrowing CallerMemory) throws(CallError) {
        switch change {
        case .mode(let mode):
            // Whoever starts a program with this bit gets the rights of its owner.
            guard mode & 0o4000 == 0 else { throw .refused }
            self = .mode(mode & 0o3777)
        case .owner(let user, let group): self = .owner(user: user, group: group)
        case .times(let address, let format):
            self = .times(address == 0 ? nil : try Self.times(address, format, memory))
        case .setLabel(let name, let value, let size, let flags):
            guard size <= 65_536 else { throw CallError(number: E2BIG) }
            self = .setLabel(
                name: try Self.label(name, memory), value: try memory.bytes(at: value, count: Int(size)), flags: flags)
        case .removeLabel(let name): self = .removeLabel(name: try Self.label(name, memory))
        }
    }

    private static func times(
        _ address: UInt64, _ format: AttributeCall.TimeFormat, _ memory: borrowing CallerMemory
    ) throws(CallError) -> [timespec] {
        if format == .seconds {
            return [
                timespec(tv_sec: Int(try memory.number(at: address)), tv_nsec: 0),
                timespec(tv_sec: Int(try memory.number(at: address &+ 8)), tv_nsec: 0),
            ]
        }
        var times: [timespec] = []
        for offset: UInt64 in [0, 16] {
            var fraction = try memory.number(at: address &+ offset &+ 8)
            if format == .microseconds {
                guard (0..<1_000_000).contains(fraction) else { throw CallError(number: EINVAL) }
                fraction *= 1000
            }
            times.append(timespec(tv_sec: Int(try memory.number(at: address &+ offset)), tv_nsec: Int(fraction)))
        }
        return times
    }

    /// - Throws: `CallError` EPERM for labels that the system grants rights with: `security.` and `trusted.`.
    private static func label(_ address: UInt64, _ memory: borrowing CallerMemory) throws(CallError) -> [CChar] {
        let name = try memory.text(at: address, maximum: 256, tooLong: ERANGE)
        guard !name.starts(with: "security.".utf8), !name.starts(with: "trusted.".utf8) else { throw .refused }
        return name.map { CChar(bitPattern: $0) } + [0]
    }

    /// - Parameter file: open with O_PATH.
    /// - Returns: false with `errno` set.
    func apply(to file: Int32) -> Bool {
        // Use calls with a path, because calls with a descriptor refuse one that was opened with O_PATH.
        let path = "/proc/self/fd/\(file)"
        switch self {
        case .mode(let mode):
            // The set-group-ID bit of a folder gives no rights to programs, and copies of a folder have it.
            if mode & 0o2000 != 0, Self.kind(of: file) != S_IFDIR {
                errno = EPERM
                return false
            }
            return !isLink(file, EOPNOTSUPP) && chmod(path, mode_t(mode)) == 0
        case .owner(let user, let group): return fchownat(file, "", user, group, Self.emptyPath) == 0
        case .times(let times):
            if let times { return utimensat(file, "", times, Self.emptyPath) == 0 }
            return utimensat(file, "", nil, Self.emptyPath) == 0
        case .setLabel(let name, let value, let flags):
            return !isLink(file, EPERM) && CLinuxShims_setxattr(path, name, value, value.count, flags) == 0
        case .removeLabel(let name): return !isLink(file, EPERM) && CLinuxShims_removexattr(path, name) == 0
        }
    }

    /// Whether it is a link, which has no mode and no labels of its own; sets `errno` for one.
    private func isLink(_ file: Int32, _ error: Int32) -> Bool {
        guard Self.kind(of: file) == S_IFLNK else { return false }
        errno = error
        return true
    }

    /// The bits of the mode that say which kind of file it is; 0 if it cannot be read.
    private static func kind(of file: Int32) -> mode_t {
        var status = stat()
        return fstat(file, &status) == 0 ? status.st_mode & S_IFMT : 0
    }
}
