/// The receiver is busy or stopping; the same offer may be answered later.
struct TurnedAway: Error {
    /// One line; may be empty.
    let reason: String
}
