/// How both sides say that an offer got no answer.
package enum SilenceWords {
    /// The sender withdrew its offer, or its connection was lost.
    package static let cancelled = "the sender cancelled"
    /// The receiver ended before anybody answered.
    package static let stopping = "the receiver is stopping"
    /// - Parameter time: shown in seconds, rounded up.
    package static func nobodyAnswered(within time: Duration) -> String {
        let (seconds, rest) = time.components
        return "nobody answered within \(seconds + (rest > 0 ? 1 : 0)) s"
    }
}
