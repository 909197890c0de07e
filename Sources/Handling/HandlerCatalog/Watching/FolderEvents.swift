import Glibc
import SystemCalls

/// Hears of changes in folders, by inotify(7). Used by one thread at a time.
final class FolderEvents {
    /// Not IN_MODIFY: the folders above the handlers' are listened in too, and every line of a log that somebody writes
    /// there would wake us. A file that is written is heard of when it is closed.
    private static let events =
        IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE_SELF
        | IN_MOVE_SELF | IN_EXCL_UNLINK | IN_ONLYDIR

    private let file: FileDescriptor
    private var interests: [Int32: CatalogPlaces.Interest] = [:]

    /// - Throws: what the kernel said: a user may have only so many of these.
    init() throws(SystemError) {
        file = FileDescriptor(owning: try systemCall { inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK)) })
    }

    /// For poll(2): readable when something has happened. Valid as long as this object is.
    var descriptor: Int32 { file.raw }

    /// Listens in these folders.
    ///
    /// - Parameter isAll: whether to listen nowhere else any more.
    /// - Throws: what the kernel said, where it listens in no more folders.
    /// - Returns: whether there was one in which it had not listened, or that was gone: what was read in it may be old.
    func cover(_ wanted: [String: CatalogPlaces.Interest], isAll: Bool) throws(SystemError) -> Bool {
        var isNew = false
        var covered = isAll ? [:] : interests
        for (path, interest) in wanted {
            let watch = inotify_add_watch(file.raw, path, UInt32(Self.events))
            guard watch >= 0 else {
                switch errno {
                // A folder that is not there yet is covered by the one above it.
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

    /// Takes all that is there to be told, and says whether anything of it matters.
    func drain() -> Bool {
        var matters = false
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = read(file.raw, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return matters }
            buffer.withUnsafeBytes { bytes in
                // struct inotify_event: four numbers of 32 bits, the last of which is the length of the name after it.
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
        // Without a name it is about the folder itself.
        return name.isEmpty || interest.covers(name)
    }
}
