import Glibc
import SystemCalls

/// Receives the changes in folders, by inotify(7). Used by one thread at a time.
final class FolderEvents {
    /// Not IN_MODIFY: it would wake this thread for each line of a log in the watched folders above those of the
    /// handlers. IN_CLOSE_WRITE reports a written file when it is closed.
    private static let events =
        IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE_SELF
        | IN_MOVE_SELF | IN_EXCL_UNLINK | IN_ONLYDIR

    private let file: FileDescriptor
    private var interests: [Int32: CatalogPlaces.Interest] = [:]

    /// - Throws: the kernel's error; the number of inotify objects of a user is limited.
    init() throws(SystemError) {
        file = FileDescriptor(owning: try systemCall { inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK)) })
    }

    /// For poll(2): readable when there is an event. Valid as long as this object exists.
    var descriptor: Int32 { file.raw }

    /// Watches these folders.
    ///
    /// - Parameter isAll: whether to stop watching all other folders.
    /// - Throws: the kernel's error, if it watches no more folders.
    /// - Returns: whether a folder is new, or was removed and made again: contents read from it may be old.
    func cover(_ wanted: [String: CatalogPlaces.Interest], isAll: Bool) throws(SystemError) -> Bool {
        var isNew = false
        var covered = isAll ? [:] : interests
        for (path, interest) in wanted {
            let watch = inotify_add_watch(file.raw, path, UInt32(Self.events))
            guard watch >= 0 else {
                switch errno {
                // A missing folder is covered by the watch of its parent.
                case ENOENT, ENOTDIR, EACCES, ELOOP, ENAMETOOLONG: continue
                default: throw .last
                }
            }
            if interests[watch] == nil { isNew = true }
            covered[watch, default: CatalogPlaces.Interest()].formUnion(interest)
        }
        for watch in interests.keys where covered[watch] == nil { _ = inotify_rm_watch(file.raw, watch) }
        interests = covered
        return isNew
    }

    /// Reads all pending events. Returns whether any of them matters.
    func drain() -> Bool {
        var matters = false
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = read(file.raw, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return matters }
            buffer.withUnsafeBytes { bytes in
                // struct inotify_event: four 32-bit numbers, of which the last is the length of the name after them.
                var start = 0
                while start + 16 <= count {
                    let watch = bytes.loadUnaligned(fromByteOffset: start, as: Int32.self)
                    let mask = bytes.loadUnaligned(fromByteOffset: start + 4, as: UInt32.self)
                    let length = Int(bytes.loadUnaligned(fromByteOffset: start + 12, as: UInt32.self))
                    let name = bytes[start + 16..<min(start + 16 + length, count)].prefix { $0 != 0 }
                    start += 16 + length
                    if take(watch, mask, String(decoding: name, as: UTF8.self)) { matters = true }
                }
            }
        }
    }

    private func take(_ watch: Int32, _ mask: UInt32, _ name: String) -> Bool {
        if mask & UInt32(IN_Q_OVERFLOW) != 0 { return true }
        guard let interest = interests[watch] else { return false }
        if mask & UInt32(IN_IGNORED) != 0 { interests[watch] = nil }
        // An event without a name is about the folder itself.
        return name.isEmpty || interest.covers(name)
    }
}
