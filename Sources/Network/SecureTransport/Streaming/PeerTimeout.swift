internal import NIOCore

/// The time in which a peer must act: counted from its last sign of life, and limited in all.
package struct PeerTimeout: Sendable {
    /// The uptime at which it is over.
    private(set) var deadline: NIODeadline
    private let silence: TimeAmount
    private let end: NIODeadline

    /// The time begins now.
    ///
    /// - Parameters:
    ///   - silence: how long the peer may show no sign of life.
    ///   - maximum: how long it may take if it does; nil: signs of life do not extend the time.
    package init(_ silence: Duration, atMost maximum: Duration? = nil) {
        // Longer than a century is as good as a century, and nothing overflows.
        func bounded(_ duration: Duration) -> TimeAmount { TimeAmount(min(duration, .seconds(100 * 366 * 86_400))) }
        let now = NIODeadline.now()
        self.silence = bounded(silence)
        end = now + bounded(maximum ?? silence)
        deadline = min(now + self.silence, end)
    }

    /// The peer has shown a sign of life.
    package mutating func heard() { deadline = min(.now() + silence, end) }
}
