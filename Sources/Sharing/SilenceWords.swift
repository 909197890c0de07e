/// How both sides say that an offer got no answer.
package enum SilenceWords {
    /// - Parameter time: shown in seconds, rounded up.
    package static func nobodyAnswered(within time: Duration) -> String {
        let (seconds, rest) = time.components
        return "nobody answered within \(seconds + (rest > 0 ? 1 : 0)) s"
    }
}
