import Digests
import Sharing
import Synchronization

/// The listing of a sealed tree while it is written. Small files are sealed on two threads, so their digests come in any
/// order: each entry waits here until all before it are complete.
final class SealedListing: Sendable {
    /// A file that has no digest yet: its place in the listing.
    struct Place: Hashable {
        fileprivate let number: Int
    }

    private enum Entry {
        case folder(SafeRelativePath)
        case link(SafeRelativePath, target: SafeLinkTarget)
        case file(SafeRelativePath, executable: Bool, Digest?)
    }

    private struct State: ~Copyable {
        var listing = TreeListing(.xxh3_128)
        /// The entries from the first file on that has no digest.
        var waiting: [Int: Entry] = [:]
        /// The number of the first of them, and that of the next entry.
        var (first, next) = (0, 0)

        mutating func add(_ entry: Entry) -> Place {
            defer { next += 1 }
            waiting[next] = entry
            pass()
            return Place(number: next)
        }

        /// Passes the complete entries at the front on.
        mutating func pass() {
            while let entry = waiting[first] {
                switch entry {
                case .folder(let path): listing.folder(path)
                case .link(let path, let target): listing.link(path, target: target)
                case .file(_, _, nil): return
                case .file(let path, let executable, let digest?):
                    listing.file(path, executable: executable, digest: digest)
                }
                waiting[first] = nil
                first += 1
            }
        }
    }

    /// Entries that wait, at most: more than there are files that are written behind.
    private static let maximumWaiting = 4 * WriteBehindQueue.maximumFiles

    private let state = Mutex(State())

    /// Whether so many entries wait that the files before them must be written first.
    var isFull: Bool { state.withLock { $0.waiting.count >= Self.maximumWaiting } }

    func folder(_ path: SafeRelativePath) { state.withLock { _ = $0.add(.folder(path)) } }

    func link(_ path: SafeRelativePath, target: SafeLinkTarget) {
        state.withLock { _ = $0.add(.link(path, target: target)) }
    }

    /// Adds a file whose digest `end` brings.
    func file(_ path: SafeRelativePath, executable: Bool) -> Place {
        state.withLock { $0.add(.file(path, executable: executable, nil)) }
    }

    /// - Parameter digest: that of the sealed file.
    func end(_ place: Place, _ digest: Digest) {
        state.withLock { state in
            guard case .file(let path, let executable, nil) = state.waiting[place.number] else { return }
            state.waiting[place.number] = .file(path, executable: executable, digest)
            state.pass()
        }
    }

    /// The digest of the listing.
    /// - Returns: nil if a file has no digest, or if the entries have not come in the order of readers.
    func finalize() -> Digest? {
        state.withLock { state in
            state.waiting.isEmpty && state.listing.isInByteOrder ? state.listing.finalize() : nil
        }
    }
}
