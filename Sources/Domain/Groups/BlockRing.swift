/// The blocks that a member holds for the next ones: `start..<end`.
struct BlockRing {
    let capacity: Int
    /// The oldest block.
    private(set) var start = 0
    /// The number of blocks that the member has.
    private(set) var end = 0

    init(capacity: Int) { self.capacity = capacity }

    /// The first block for which there is no room.
    ///
    /// - Parameter released: blocks below it are no longer needed.
    func limit(released: Int) -> Int {
        max(start, min(released, end)) + capacity
    }

    /// Takes the next block. Without room the oldest one leaves.
    mutating func append() {
        end += 1
        start = max(start, end - capacity)
    }
}
