import Glibc
import SystemCalls

/// Tells the kernel which files of a folder are read next, where they are on a disk and not in memory: many small ones
/// are then read at a time, where each would be waited for in its turn.
///
/// Nothing but hints, by a walk of its own. Where that fails it stops, and what is wrong is found by who reads.
struct TreeReadAhead {
    /// Files between the one that is read and the one that is asked for.
    private static let lead = 64
    /// Files that are asked for after one that was not in memory. Then it is seen anew whether the others are.
    private static let reach = 1_024
    /// Bytes at the beginning of each. The kernel reads ahead in a larger file by itself.
    private static let beginning: off_t = 128 << 10
    /// Names that are passed at once, with few files among them.
    private static let steps = 256

    private var walk: FolderWalk?
    private var lead = 0
    private var left = 0

    /// - Parameter reader: has reached a file that was not in memory.
    mutating func follow(_ reader: FolderWalk) {
        if walk == nil {
            walk = try? FolderWalk(copying: reader)
            lead = 0
        }
        left = Self.reach
        run()
    }

    /// Who reads has reached another file.
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
