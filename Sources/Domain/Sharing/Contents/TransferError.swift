/// Why a transfer, or one item of it, failed. Its code is sent on the wire.
package struct TransferError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The codes of the protocol (section "Faults"); a code that is not known reads as `unexpected`.
    package enum Code: String, Sendable, Codable, CaseIterable {
        /// The peer broke the protocol: wrong order, malformed, over a limit.
        case protocolViolation = "protocol"
        /// No accepted verdict covers this.
        case notAccepted = "not-accepted"
        /// More or less arrived than was offered.
        case sizeMismatch = "size"
        /// The contents are not what the sender read.
        case digestMismatch = "digest"
        /// The contents are not of the type that they were accepted for.
        case notAsDeclared = "content"
        /// A name, path or link that will not be created.
        case unsafeName = "name"
        /// The disk is full.
        case noRoom = "no-room"
        /// The receiver's disk reported an error.
        case storage
        /// The source changed while it was read.
        case changed
        /// The source could not be read to its end.
        case unreadable
        /// A user stopped it.
        case cancelled
        /// The receiver is being stopped.
        case stopping
        /// The connection broke off.
        case interrupted
        /// An item that was reported as present or kept is no longer there.
        case notKept = "not-kept"
        case unexpected
    }

    /// Whether the contents received before it should be kept: the next attempt can continue from them.
    package var isResumable: Bool {
        switch code {
        case .noRoom, .storage, .changed, .cancelled, .stopping, .interrupted, .notKept: true
        case .protocolViolation, .notAccepted, .sizeMismatch, .digestMismatch, .notAsDeclared, .unsafeName, .unreadable,
            .unexpected:
            false
        }
    }

    package let code: Code
    /// One line, lower case: the action that failed, and why.
    package let message: String
    package let cause: EndCause

    /// - Parameter cause: nil for the usual one of `code`.
    package init(_ code: Code, _ message: String, cause: EndCause? = nil) {
        self.code = code
        self.message = message
        self.cause = cause ?? code.usualCause
    }

    package var description: String { message }
}
