import Glibc
import SystemCalls

/// The changes in the folders of handlers. Used by one thread at a time.
final class FolderEvents {
    /// Not IN_MODIFY: it would wake this thread for each line of a log in the watched folders above those of the
    /// handlers. IN_CLOSE_WRITE reports a written file when it is closed.
    private static let events = UInt32(
        IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE_SELF
            | IN_MOVE_SELF | IN_EXCL_UNLINK | IN_ONLYDIR)

    private let inotify: Inotify
    private var interests: [Int32: WatchedPaths.Interest] = [:]

    /// - Throws: the kernel's error; the number of inotify objects of a user is limited.
    init() throws(SystemError) {
        inotify = try Inotify()
    }

    /// For poll(2): readable when there is an event. Valid as long as this object exists.
    var descriptor: Int32 { inotify.descriptor }

    /// Watches these folders.
    ///
    /// - Parameter isAll: whether to stop watching all other folders.
    /// - Throws: the kernel's error, if it watches no more folders.
    /// - Returns: whether a folder is new, or was removed and made again: contents read from it may be old.
    func cover(_ wanted: [String: WatchedPaths.Interest], isAll: Bool) throws(SystemError) -> Bool {
        var isNew = false
        var covered = isAll ? [:] : interests
        for (path, interest) in wanted {
            let watch: Int32
            do {
                watch = try inotify.watch(path, for: Self.events)
            } catch {
                switch error.number {
                // A missing folder is covered by the watch of its parent.
                case ENOENT, ENOTDIR, EACCES, ELOOP, ENAMETOOLONG: continue
                default: throw error
                }
            }
            if interests[watch] == nil { isNew = true }
            covered[watch, default: WatchedPaths.Interest()].formUnion(interest)
        }
        for watch in interests.keys where covered[watch] == nil { inotify.unwatch(watch) }
        interests = covered
        return isNew
    }

    /// Reads all pending events. Returns whether any of them matters.
    func drain() -> Bool {
        var matters = false
        inotify.drain { if take($0) { matters = true } }
        return matters
    }

    private func take(_ event: Inotify.Event) -> Bool {
        if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { return true }
        guard let interest = interests[event.watch] else { return false }
        if event.mask & UInt32(IN_IGNORED) != 0 { interests[event.watch] = nil }
        // An event without a name is about the folder itself.
        return event.name.isEmpty || interest.covers(String(decoding: event.name, as: UTF8.self))
    }
}
