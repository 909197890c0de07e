import Contacts
import Control
import Endpoints
import Pairing
import Sharing

/// A pairing that this side began, on one connection. Used by one task.
struct PairingConversation {
    let connection: any PairingConnection
    let session: PairingSession
    let contacts: ContactBook
    let ask: @Sendable (PairingQuestion) async -> Bool?
    let confirmed: @Sendable () -> Void

    /// How long the other side may be silent. It sends signs of life while its user decides, until a deadline.
    private static let silence: Duration = .seconds(40)
    /// Timeout for sending the end to the other side.
    private static let farewell: Duration = .seconds(2)

    /// The verified peer.
    struct Outcome: Sendable {
        let peer: PeerID
        /// The name that it gives itself.
        let name: String?
        /// The transfer that it sends by a spoken code.
        let transfer: TransferID?
    }

    func run(_ first: PairingLetter) async throws -> Outcome {
        let watch = Task { [session, close = connection.close] in
            while session.deadline > .now {
                do { try await Task.sleep(until: session.deadline, clock: .continuous) } catch { return }
            }
            session.cancel(now: .now)
            close()
        }
        defer { watch.cancel() }
        do {
            return try await converse(first)
        } catch let fault as PairingError {
            // Over for the other side as well; it may be gone.
            if fault.code != .refusedByPeer { await say(fault) }
            throw fault
        } catch {
            try Task.checkCancellation()
            // Why the connection was closed, if it was by this side.
            if error is PairingConnectionError, let fault = session.end() { throw fault }
            throw error
        }
    }

    private func converse(_ first: PairingLetter) async throws -> Outcome {
        var letter = first
        var peerName: String?
        while true {
            let answer = try await connection.exchange(
                letter, silence: Self.silence, maximum: Limits.offerAnswer)
            peerName = peerName ?? answer.name
            var actions = try session.receive(answer.message, now: .now)
            if case .show(let string)? = actions.first {
                actions = try session.confirm(try await compare(string, peerName), now: .now)
                // A no has ended it: its fault is thrown, and bears the refusal.
                if session.shown == nil, let fault = session.end() { throw fault }
                confirmed()
            }
            switch actions.first {
            case .send(let bytes)?:
                letter = PairingLetter(message: bytes)
            case .verified(let id)?: return Outcome(peer: id, name: peerName, transfer: answer.transfer)
            default: throw PairingEndError(.failed, "the pairing did not finish")
            }
        }
    }

    /// - Throws: `PairingConnectionError` when the connection broke off meanwhile, `CancellationError`.
    private func compare(_ string: ShortString, _ peerName: String?) async throws -> Bool {
        let introduction = try contacts.snapshot().introduction(of: session.peer, callingItself: peerName ?? "")
        let question = PairingQuestion(peer: session.peer, introduction: introduction, string: string)
        let answer = Task { [ask] in await ask(question) }
        connection.whenClosed { answer.cancel() }
        let isSame = await withTaskCancellationHandler {
            await answer.value
        } onCancel: {
            answer.cancel()
        }
        try Task.checkCancellation()
        guard let isSame else {
            if connection.isOpen { throw PairingEndError.givenUp }
            throw PairingConnectionError()
        }
        return isSame
    }

    private func say(_ fault: PairingError) async {
        _ = try? await connection.exchange(
            PairingLetter(message: fault.reply), silence: Self.farewell, maximum: nil)
    }
}
