import Digests
package import Sharing

extension SettledItem {
    /// The outcome of one item of an attempt.
    ///
    /// - Parameter waitsForHandlers: whether it is settled only when a handler has answered, in any way: a stored item is
    ///   sent.
    /// - Returns: the outcome if the item is settled; otherwise a failure that allows another attempt.
    package static func of(
        _ item: SendResult.Item, waitsForHandlers: Bool
    ) -> Result<SettledItem, OutboxJobError> {
        switch item {
        case .notAccepted(let verdict): settled(OutboxJobError(verdict))
        case .unread(let fault): settled(OutboxJobError(fault))
        case .lost(let fault): settled(OutboxJobError(fault))
        case .acknowledged(let receipt, _): of(receipt, waitsForHandlers: waitsForHandlers)
        }
    }

    /// The outcome of one item by its receipt, which the caller has checked with `ItemReceipt.contradiction`.
    /// - Returns: same as the function above.
    package static func of(
        _ receipt: ItemReceipt, waitsForHandlers: Bool
    ) -> Result<SettledItem, OutboxJobError> {
        switch receipt.outcome {
        case .notSent:
            return .failure(OutboxJobError(.unreachable, "it was not stored", isFinal: false))
        case .failed(let fault):
            return settled(OutboxJobError(fault))
        case .stored(let name, let size, let digest):
            // The next attempt asks for the receipt again. The receiver has the item, so it is not offered again.
            if waitsForHandlers, receipt.handler.state == .pending { return .failure(.handlerPending) }
            return .success(
                SettledItem(
                    stored: name, size: size, digest: digest.description, handler: receipt.handler))
        }
    }

    private static func settled(_ failure: OutboxJobError) -> Result<SettledItem, OutboxJobError> {
        failure.isFinal ? .success(SettledItem(failure)) : .failure(failure)
    }
}

extension OutboxJobError {
    /// An item is stored, and its handler has not answered yet.
    package static let handlerPending = OutboxJobError(
        .noAnswer, "stored, but the handler has not answered yet", isFinal: false)

    init(_ verdict: ItemVerdict) {
        let reason = verdict.reason
        switch verdict.answer {
        case .declined: self.init(.declined, reason.isEmpty ? "declined" : "declined: \(reason)", isFinal: true)
        case .ineligible:
            self.init(.ineligible, reason.isEmpty ? "not eligible" : "not eligible: \(reason)", isFinal: true)
        case .noRoom: self.init(.noRoom, reason.isEmpty ? "no room" : "no room: \(reason)", isFinal: false)
        case .busy: self.init(.noAnswer, reason.isEmpty ? "busy" : "busy: \(reason)", isFinal: false)
        case .expired, .accepted: self.init(.noAnswer, reason.isEmpty ? "no answer" : reason, isFinal: false)
        }
    }

    /// Converts the fault of a transfer, or of an item of it.
    package init(_ fault: TransferError) {
        switch fault.code {
        case .noRoom: self.init(.noRoom, fault.message, isFinal: false)
        case .changed: self.init(.changed, fault.message, isFinal: true)
        case .unreadable: self.init(.inputMissing, fault.message, isFinal: true)
        case .cancelled: self.init(.declined, fault.message, isFinal: true)
        case .unsafeName, .notAsDeclared: self.init(.ineligible, fault.message, isFinal: true)
        case .notAccepted, .interrupted, .stopping, .protocolViolation:
            self.init(.unreachable, fault.message, isFinal: false)
        case .digestMismatch, .sizeMismatch: self.init(.changed, fault.message, isFinal: false)
        default: self.init(.unexpected, fault.message, isFinal: false)
        }
    }
}
