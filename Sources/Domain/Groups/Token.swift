/// Lets one peer begin one link: 128 random bits, made by the sender for one epoch, one dialler and one callee.
package struct Token: Hashable, Sendable {
    /// The first and the last eight bytes.
    package let high: UInt64
    package let low: UInt64

    /// - Parameters: two halves of 64 random bits each.
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Compares in a time that does not depend on the values.
    package static func == (left: Token, right: Token) -> Bool {
        (left.high ^ right.high) | (left.low ^ right.low) == 0
    }
}

/// Makes the tokens of a sender. The real one asks the system for random numbers; that of tests counts.
package protocol TokenSource: Sendable {
    /// Makes another token each time. No peer can guess it.
    mutating func makeToken() -> Token
}
