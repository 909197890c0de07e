import Sharing

/// Items that have arrived, of one transfer or of several, which one notification tells about.
struct ArrivalGroup: Hashable, Sendable {
    /// Items that are kept for the buttons; the rest is counted.
    static let keptItems = 64

    /// Number of transfers, 1 or more.
    private(set) var transfers = 1
    /// Number of items.
    private(set) var count: Int
    /// The first items, at most `keptItems`; at least one.
    private(set) var items: [Arrival]
    /// Whether all items are of one peer.
    private(set) var hasOnePeer = true

    /// - Parameters:
    ///   - items: of one transfer, at least one.
    ///   - count: number of all its items.
    init(_ items: [Arrival], count: Int) {
        self.items = Array(items.prefix(Self.keptItems))
        self.count = count
    }

    mutating func add(_ other: ArrivalGroup) {
        hasOnePeer = hasOnePeer && other.hasOnePeer && items.first?.peer == other.items.first?.peer
        transfers += other.transfers
        count += other.count
        items += other.items.prefix(Self.keptItems - items.count)
    }
}
