import Age
import Secrets
import Synchronization

/// The sealers of files whose transfer was cut. With its sealer a file can be read and continued while Waft is locked.
///
/// They stay for a short time only: a thief who takes the machine later finds no key here.
final class KeptSealers: Sendable {
    static let lifetime: Duration = .seconds(600)
    /// Sealers that are kept, at most: the latest ones.
    static let maximumCount = 32

    /// A file: the name of its item in the staging folder, and the hash of its path in the item.
    struct SealedFile: Hashable {
        var item: String
        var pathHash: UInt64
    }

    /// Only the owner of the lock uses it.
    private final class Kept: @unchecked Sendable {
        var sealer: AgeSealer?
        let chunkKey: SecretBytes
        /// Bytes of contents, and of the file.
        let (contents, file): (UInt64, UInt64)
        let until: ContinuousClock.Instant
        let endsAtLock: Bool

        init(_ sealer: consuming AgeSealer, until: ContinuousClock.Instant, endsAtLock: Bool) {
            self.endsAtLock = endsAtLock
            chunkKey = sealer.chunkKey
            (contents, file) = (UInt64(sealer.contentBytes), UInt64(sealer.fileBytes))
            self.sealer = consume sealer
            self.until = until
        }
    }

    private struct State {
        var kept: [SealedFile: Kept] = [:]

        mutating func expire(at now: ContinuousClock.Instant) {
            kept = kept.filter { $0.value.until > now }
            while kept.count > maximumCount, let oldest = kept.min(by: { $0.value.until < $1.value.until }) {
                kept[oldest.key] = nil
            }
        }
    }

    private let state = Mutex(State())

    /// Keeps a sealer whose chunks are all in its file. The contents that wait for their chunk are forgotten.
    ///
    /// - Parameter endsAtLock: whether `lock` forgets it.
    func put(_ sealer: consuming AgeSealer, for place: SealedFile, endsAtLock: Bool = false) {
        guard sealer.isUsable else { return }
        sealer.forgetTail()
        let kept = Kept(sealer, until: .now + Self.lifetime, endsAtLock: endsAtLock)
        state.withLock { state in
            state.kept[place] = kept
            state.expire(at: .now)
        }
        Task { [weak self] in
            try? await Task.sleep(for: Self.lifetime)
            self?.state.withLock { $0.expire(at: .now) }
        }
    }

    /// Hands a sealer out, for one use, if it can go on behind so many bytes of contents and of the file.
    func take(_ place: SealedFile, contents: UInt64, file: UInt64) -> AgeSealer? {
        state.withLock { state in
            state.expire(at: .now)
            guard let kept = state.kept.removeValue(forKey: place), kept.contents == contents, kept.file == file else {
                return nil
            }
            return kept.sealer.take()
        }
    }

    func chunkKey(_ place: SealedFile) -> SecretBytes? {
        state.withLock { state in
            state.expire(at: .now)
            return state.kept[place]?.chunkKey
        }
    }

    /// Whether a sealer of any file of this item is kept.
    func has(_ item: String) -> Bool {
        state.withLock { state in
            state.expire(at: .now)
            return state.kept.keys.contains { $0.item == item }
        }
    }

    /// The item is gone.
    func forget(_ item: String) {
        state.withLock { state in state.kept = state.kept.filter { $0.key.item != item } }
    }

    /// Forgets those that may not outlive a lock.
    func lock() { state.withLock { state in state.kept = state.kept.filter { !$0.value.endsAtLock } } }

    /// Forgets all: from now on nothing that was cut can be read.
    func wipe() { state.withLock { $0.kept = [:] } }
}
