private import Synchronization

/// Sets the size of the pieces of contents: large enough to make the overhead negligible, small enough to bound the memory of
/// all bodies that this process sends at the same time.
final class PieceShare: Sendable {
    /// Maximum TLS records of a piece, which leaves none of them partly filled. Twice and half this number are slower.
    private static let maximumRecords = 30
    private static let minimumRecords = 4
    private static let recordBytes = 16_384
    /// Maximum records in one piece of each body together, unless that gives a body less than the minimum.
    private static let recordsOfAll = 320

    private let bodies = Atomic<Int>(0)

    /// Registers one more body.
    func begin() { bodies.add(1, ordering: .relaxed) }

    /// Removes one body.
    func end() { bodies.subtract(1, ordering: .relaxed) }

    /// - Parameter pieces: number of earlier pieces of the body. The first pieces are small: the receiver can start
    ///   early, and a small transfer takes little memory.
    /// - Returns: bytes of the next piece.
    func pieceBytes(after pieces: Int) -> Int {
        let share = Self.recordsOfAll / max(1, bodies.load(ordering: .relaxed))
        let records = min(Self.maximumRecords, share, pieces < 2 ? Self.minimumRecords << pieces : .max)
        return max(records, Self.minimumRecords) * Self.recordBytes
    }
}
