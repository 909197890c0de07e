import HTTPChannel
private import Synchronization

/// How large the pieces of a body are: large enough that what a piece costs besides its bytes does not count, and small
/// enough that those of all bodies that this process sends at the same time stay within a bound.
final class PieceShare: Sendable {
    /// TLS records that pieces fill, with what HTTP puts around each: with no record for what is left over.
    /// Twice and half as much as the most cost more.
    private static let mostRecords = 30
    private static let leastRecords = 4
    private static let recordBytes = 16_384
    /// Records of one piece of each body together, as long as none has less than the least.
    private static let recordsOfAll = 320

    private let bodies = Atomic<Int>(0)

    /// One more body is being sent.
    func begin() { bodies.add(1, ordering: .relaxed) }

    /// One less.
    func end() { bodies.subtract(1, ordering: .relaxed) }

    /// - Parameter pieces: how many pieces of the body there were before: the first ones are small, so that the other side
    ///   has something to do soon, and who sends little takes little memory.
    /// - Returns: bytes of the next piece.
    func pieceBytes(after pieces: Int) -> Int {
        let share = Self.recordsOfAll / max(1, bodies.load(ordering: .relaxed))
        let records = min(Self.mostRecords, share, pieces < 2 ? Self.leastRecords << pieces : .max)
        return HTTPChunk.contents(of: max(records, Self.leastRecords) * Self.recordBytes)
    }
}
