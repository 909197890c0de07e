package import Sharing

/// A transfer that moves now, or has just ended.
package struct MovingLine: Line, Codable, Equatable {
    package static let event = "moving"

    package enum Way: String, Codable, Sendable { case `in`, out }

    package var transfer: String
    package var way: Way
    /// The sender of one that arrives.
    package var from: PersonFields?
    /// The receiver of one that is sent, as it was named.
    package var to: String?
    /// The peer to which the contents of one that arrives are passed on, in a group.
    package var relaying: PersonFields?
    /// The first item as it is offered.
    package var name: String
    package var count: Int
    /// Bytes of contents that have moved, or were there already; absent before the first.
    package var bytes: UInt64?
    /// Bytes of all accepted items; absent if unknown.
    package var total: UInt64?
    /// Bytes a second; absent before anything can be said.
    package private(set) var rate: UInt64?
    package private(set) var secondsLeft: UInt64?
    /// Present for one that has ended.
    package private(set) var over: Bool?
    /// Why one that has ended is not stored.
    package private(set) var reason: String?
    /// Bytes of everything whose size is known.
    @Unsaid package var size: UInt64
    /// The dialect of the transfer.
    @Unsaid package var via: String?

    private init(_ way: Way, _ offer: Offer, from: PersonFields?, to: String?) {
        (self.way, self.from, self.to) = (way, from, to)
        (transfer, name, count) = (offer.transfer.text, offer.items.first?.name.text ?? "", offer.items.count)
        (size, via) = (offer.knownSize, offer.dialect.name)
    }

    /// - Parameter receiver: the name that the user gave it.
    package init(sending offer: Offer, to receiver: String) {
        self.init(.out, offer, from: nil, to: receiver)
    }

    package init(receiving offer: Offer, from sender: PersonFields) {
        self.init(.in, offer, from: sender, to: nil)
    }

    package var isOver: Bool { over == true }

    /// - Parameter bytesPerSecond: nil before anything can be said. One that has ended has none.
    package mutating func move(at bytesPerSecond: Double?) {
        (rate, secondsLeft) = (nil, nil)
        guard !isOver, let bytesPerSecond, bytesPerSecond >= 1 else { return }
        // A size that a peer has claimed may be too large for a number of seconds.
        rate = UInt64(exactly: bytesPerSecond.rounded())
        if let total, let bytes, total >= bytes {
            secondsLeft = UInt64(exactly: (Double(total - bytes) / bytesPerSecond).rounded())
        }
    }

    /// - Parameter reason: why not everything is stored; nil if it is.
    package mutating func end(_ reason: String?) {
        (over, rate, secondsLeft) = (true, nil, nil)
        self.reason = reason
    }
}

/// The user has cancelled a transfer.
package struct CancelledLine: Line {
    package static let event = "cancelled"

    package let transfer: String

    package init(transfer: String) { self.transfer = transfer }
}
