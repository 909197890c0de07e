import Control
package import Lines
import Pairing
import Sending
package import Sharing

extension Codes {
    /// How long the port of the other side, which has just been told, may take to be reached.
    private static let reaching: Duration = .seconds(3)

    /// Sends to a machine, by the word that names it for `Waft.send`, with the options for that.
    package typealias Sending = @Sendable (_ peer: String, SendOptions) async throws(WaftError) -> WaftExit

    /// Shows a code, and sends to each machine that has proved to know it.
    /// - Returns: the exit of the first sending that failed.
    /// - Throws: `WaftError`, as `show`, and the errors of `send`.
    package func send(
        _ showing: Showing, _ options: SendOptions, _ see: @escaping @Sendable (Step) -> Void, send: @escaping Sending
    ) async throws(WaftError) -> WaftExit {
        try await withReceiver { (_) throws(WaftError) in
            try await withTaskGroup(of: Result<WaftExit, WaftError>.self) { group -> Result<WaftExit, WaftError> in
                var ends: [Result<WaftExit, WaftError>] = []
                do throws(WaftError) {
                    try await show(showing, .send, see) { (guest) throws(WaftError) in
                        guard let place = guest.place else { throw .noAnswer }
                        let options = Self.options(options, guest.transfer, guest.peer)
                        group.addTask {
                            do throws(WaftError) { return .success(try await send(place, options)) } catch {
                                return .failure(error)
                            }
                        }
                    }
                } catch {
                    // Sendings that have begun go on.
                    ends.append(.failure(error))
                }
                for await end in group { ends.append(end) }
                return ends.first { $0 != .success(.done) } ?? .success(.done)
            }.get()
        }
    }

    /// Proves to the machine that shows a code to know it, and sends to it.
    /// - Throws: `WaftError`: `usage`, `peerNotFound`, `declined`, `unreachable`, and the errors of `send`.
    package func send(
        by typed: Typed, _ search: Search, _ options: SendOptions, _ see: @escaping @Sendable (Step) -> Void,
        send: Sending
    ) async throws(WaftError) -> WaftExit {
        try check(typed, for: search)
        let transfer = TransferID()
        let initiator = try initiator()
        let meeting: CodeInitiator.Meeting
        do throws(PairingStartError) {
            meeting = try await initiator.send(transfer, by: typed.code, search.search)
        } catch {
            throw WaftError(code: error)
        }
        guard let place = meeting.place else { throw .noAnswer }
        self.see(meeting, search, see)
        return try await send(place.description, Self.options(options, transfer, meeting.peer))
    }

    private static func options(_ options: SendOptions, _ transfer: TransferID, _ peer: PeerID) -> SendOptions {
        var options = options
        (options.transfer, options.expected, options.finding) = (transfer, peer, reaching)
        return options
    }
}
