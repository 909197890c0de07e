package import Lines
import Pairing
import Sending
package import Sharing

extension Codes {
    /// How long the port of the other side, which has just been told, may take to be reached.
    private static let reaching: Duration = .seconds(3)

    /// Sends to a machine, by the word that names it for `Waft.send`, with the options for that.
    package typealias Sending = @Sendable (_ peer: String, SendOptions) async throws(WaftError) -> WaftExit

    /// Shows a code, and sends to the machine that has proved to know it.
    /// - Parameters: as in `show`.
    /// - Throws: `WaftError`, as `show`, and the errors of `send`.
    package func send(
        words: Int, for time: Duration, _ options: SendOptions, _ see: @escaping @Sendable (Step) -> Void,
        send: @escaping Sending
    ) async throws(WaftError) -> WaftExit {
        let transfer = TransferID()
        return try await withReceiver { () throws(WaftError) in
            let guest = try await show(sending: transfer, words: words, for: time, see)
            guard let place = guest.place else { throw .noAnswer }
            return try await send(place, Self.options(options, transfer, guest.peer))
        }
    }

    /// Proves to the machine that shows a code to know it, and sends to it.
    /// - Throws: `WaftError`: `peerNotFound`, `declined`, `unreachable`, and the errors of `send`.
    package func send(
        by typed: Typed, _ search: Search, _ options: SendOptions, _ see: @escaping @Sendable (Step) -> Void,
        send: Sending
    ) async throws(WaftError) -> WaftExit {
        let transfer = TransferID()
        let initiator = try initiator()
        let meeting: CodeInitiator.Meeting
        do throws(PairingStartError) {
            meeting = try await initiator.send(transfer, by: typed.code, search.search)
        } catch {
            throw WaftError(code: error)
        }
        guard let place = meeting.place else { throw .noAnswer }
        see(.met(line(meeting.peer, meeting.name)))
        return try await send(place.description, Self.options(options, transfer, meeting.peer))
    }

    private static func options(_ options: SendOptions, _ transfer: TransferID, _ peer: PeerID) -> SendOptions {
        var options = options
        (options.transfer, options.expected, options.finding) = (transfer, peer, reaching)
        return options
    }
}
