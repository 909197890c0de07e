import Control
package import Lines

extension Waft {
    /// The transfers that move now.
    package var transfers: Transfers { Transfers(receiver: receiver) }
}

/// The transfers that move now, in both directions. Only a running receiver knows them.
package struct Transfers: Sendable {
    fileprivate let receiver: ReceiverConnection

    /// Those that move, and those that have just ended.
    /// - Throws: `WaftError`, `notRunning` when no receiver is running.
    package func all() async throws(WaftError) -> [MovingLine] {
        guard case .transfers(let transfers) = try await receiver.ask(.transfers) else {
            throw WaftError(.unexpected, "the receiver gave no transfers")
        }
        return transfers
    }

    /// - Throws: as `all`.
    package func moving() async throws(WaftError) -> [MovingLine] { try await all().filter { !$0.isOver } }

    /// Cancels a transfer, and tells the other side.
    /// - Parameter transfer: its whole id.
    /// - Throws: `WaftError`, `inputMissing` if it does not move any more.
    package func cancel(_ transfer: String) async throws(WaftError) -> CancelledLine {
        switch try await receiver.ask(.cancel(transfer: transfer)) {
        case .done: return CancelledLine(transfer: transfer)
        case .unknown(let reason), .refused(let reason):
            throw WaftError(.inputMissing, reason, hint: "see: waft transfers")
        default: throw WaftError(.unexpected, "the receiver gave no answer")
        }
    }
}
