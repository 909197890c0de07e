import Sharing

/// The receiver is busy or stopping; the same offer may be answered later.
struct BusyError: Error {
    /// One line; may be empty.
    let reason: String
    var cause: EndCause = .rule
}
