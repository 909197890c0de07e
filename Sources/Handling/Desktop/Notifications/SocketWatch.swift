import Glibc

/// Reports new sockets with inotify(7), so that no thread has to poll for a bus.
///
/// Used by one thread.
final class SocketWatch {
    private static let events = IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_ONLYDIR

    /// For poll(2); owned. Negative if the kernel gives none: then the service tries to connect at intervals.
    let descriptor: Int32
    private let sockets: [(folder: String, name: [UInt8])]
    private var names: [Int32: Set<[UInt8]>] = [:]

    /// - Parameter sockets: absolute paths.
    init(_ sockets: [String]) {
        descriptor = sockets.isEmpty ? -1 : inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        self.sockets = sockets.compactMap { path in
            guard let slash = path.lastIndex(of: "/") else { return nil }
            let folder = path[..<slash]
            return (folder.isEmpty ? "/" : String(folder), Array(path[path.index(after: slash)...].utf8))
        }
        cover()
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Watches the folders again, including those created since the last call.
    func cover() {
        guard descriptor >= 0 else { return }
        names = [:]
        for (folder, name) in sockets {
            let watch = inotify_add_watch(descriptor, folder, UInt32(Self.events))
            if watch >= 0 { names[watch, default: []].insert(name) }
        }
    }

    /// Reads all pending events.
    /// - Returns: whether one of the sockets was created.
    func drain() -> Bool {
        guard descriptor >= 0 else { return false }
        var isMade = false
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return isMade }
            buffer.withUnsafeBytes { bytes in
                // struct inotify_event: four 32-bit numbers, the last of which is the length of the name that follows.
                var start = 0
                while start + 16 <= count {
                    let watch = bytes.loadUnaligned(fromByteOffset: start, as: Int32.self)
                    let length = Int(bytes.loadUnaligned(fromByteOffset: start + 12, as: UInt32.self))
                    let name = Array(bytes[start + 16..<min(start + 16 + length, count)].prefix { $0 != 0 })
                    if names[watch]?.contains(name) == true { isMade = true }
                    start += 16 + length
                }
            }
        }
    }
}
