import Glibc
import SystemCalls

/// Reports new sockets, so that no thread has to poll for a bus.
///
/// Used by one thread.
final class SocketWatch {
    private static let events = UInt32(IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_ONLYDIR)

    /// Nil if the kernel gives none: then the service tries to connect at intervals.
    private let inotify: Inotify?
    private let sockets: [(folder: String, name: [UInt8])]
    private var names: [Int32: Set<[UInt8]>] = [:]

    /// - Parameter sockets: absolute paths.
    init(_ sockets: [String]) {
        inotify = sockets.isEmpty ? nil : try? Inotify()
        self.sockets = sockets.compactMap { path in
            guard let slash = path.lastIndex(of: "/") else { return nil }
            let folder = path[..<slash]
            return (folder.isEmpty ? "/" : String(folder), Array(path[path.index(after: slash)...].utf8))
        }
        cover()
    }

    /// For poll(2); negative if nothing can be watched.
    var descriptor: Int32 { inotify?.descriptor ?? -1 }

    /// Watches the folders again, including those created since the last call.
    func cover() {
        guard let inotify else { return }
        names = [:]
        for (folder, name) in sockets {
            if let watch = try? inotify.watch(folder, for: Self.events) { names[watch, default: []].insert(name) }
        }
    }

    /// Reads all pending events.
    /// - Returns: whether one of the sockets was created.
    func drain() -> Bool {
        var isMade = false
        inotify?.drain { event in
            if names[event.watch]?.contains(event.name) == true { isMade = true }
        }
        return isMade
    }
}
