import Glibc
import SystemCalls

/// Tells the kernel which files of a folder are read next, if they are on a disk and not in memory. The kernel then
/// reads many small files at once; otherwise the reader waits for each of them.
///
/// It only gives hints, and uses a walk of its own. If the walk fails, it stops; the reader finds the error itself.
struct TreeReadAhead {
    /// Number of files between the current one and the one that is requested.
    private static let lead = 64
    /// Number of files requested after one that was not in memory. After them, the need is checked again.
    private static let reach = 1_024
    /// Bytes requested from the beginning of each file. The kernel itself reads ahead in larger files.
    private static let beginning: off_t = 128 << 10
    /// Maximum number of entries passed in one call if few of them are files.
    private static let steps = 256

    private var walk: FolderWalk?
    private var lead = 0
    private var left = 0

    /// - Parameter reader: the walk that has reached a file that was not in memory.
    mutating func follow(_ reader: FolderWalk) {
        if walk == nil {
            walk = try? FolderWalk(copying: reader)
            lead = 0
        }
        left = Self.reach
        run()
    }

    /// The reader has reached another file.
    mutating func advance() {
        guard walk != nil else { return }
        lead = max(0, lead - 1)
        run()
    }

    private mutating func run() {
        var steps = 0
        while let walk, lead < Self.lead, steps < Self.steps {
            guard left > 0, let step = try? walk.next() else {
                self.walk = nil
                return
            }
            steps += 1
            guard case .file = step else { continue }
            walk.withFile(Self.ask)
            lead += 1
            left -= 1
        }
    }

    private static func ask(_ folder: Int32, _ name: UnsafePointer<CChar>) {
        let raw = openat(folder, name, OpenedFile.flags | O_NOFOLLOW)
        guard raw >= 0 else { return }
        posix_fadvise(raw, 0, beginning, POSIX_FADV_WILLNEED)
        close(raw)
    }
}
