import Control
import Endpoints
import Lines
import Settings
import Sharing

/// Lets a peer pair with this machine: opens pairing mode of the running receiver, follows it and answers.
struct PairAccepting: Sendable {
    let byCode: Bool
    /// The name for the contact here.
    let name: String?
    let seconds: Double
    let rendering: PairRendering

    /// - Throws: `CommandError`, 69 if no receiver is running.
    func run() async throws -> PairRendering.End {
        let seconds = min(seconds, 600)
        let own = try CommandContext.forgiving.settings.name
        let opening = PairingOpening(method: byCode ? .code : .compare, seconds: seconds, name: name)
        let standing: PairingProgress
        switch try await Daemon.ask(.pairing(.open(opening))) {
        case .pairing(let opened): standing = opened
        case .refused(let reason): return .failed(.declined, reason)
        default: throw CommandError(.unexpected, "the receiver gave no answer")
        }
        rendering.opened(code: standing.code, seconds: seconds, name: own)
        let cancellation = Cancellation()
        do {
            return try await Interruption.watching(cancellation, goodbye: .zero) { try await follow(standing) }
        } catch is CancellationError {
            // Handled below.
        } catch {
            guard cancellation.isRequested else { throw error }
        }
        // The cancelled task is another one, so this request still reaches the receiver.
        _ = try? await Daemon.ask(.pairing(.close(ticket: standing.ticket)))
        return .failed(.interrupted, "interrupted")
    }

    private func follow(_ opened: PairingProgress) async throws -> PairRendering.End {
        var standing = opened
        var asking: Task<Void, Never>?
        defer { asking?.cancel() }
        while true {
            try Task.checkCancellation()
            let reply: ControlReply
            do {
                reply = try await Daemon.ask(.pairing(.follow(ticket: opened.ticket, seen: standing.revision)))
            } catch {
                try Task.checkCancellation()
                return .failed(.notRunning, "the receiver has ended")
            }
            let before = standing
            switch reply {
            case .pairing(let now): standing = now
            case .refused(let reason): return .failed(.declined, reason)
            default: throw CommandError(.unexpected, "the receiver gave no answer")
            }
            if let peer = standing.peer, before.peer != peer { rendering.came(peer) }
            if let digits = standing.digits, before.digits == nil {
                rendering.compare(digits: digits, words: standing.words ?? [])
            }
            switch standing.phase {
            case .waiting: if before.peer != nil { rendering.goneAgain() }
            case .trying: break
            case .comparing: if asking == nil { asking = Task { await answer(opened.ticket) } }
            case .confirmed: if before.phase != .confirmed { rendering.confirmed() }
            case .paired:
                let peer = standing.peer
                return .paired(id: peer?.id ?? "", key: peer?.key ?? "", contact: standing.contact ?? "")
            case .failed:
                let end = standing.failure ?? PairingEndError(.failed, "the receiver does not say why")
                return PairRendering.End(end.code, end.reason)
            }
        }
    }

    /// The receiver's reply is not needed: `follow` shows the result.
    private func answer(_ ticket: Int) async {
        let isSame = await rendering.isSame()
        guard !Task.isCancelled else { return }
        let request = isSame.map { PairingRequest.answer(ticket: ticket, isSame: $0) } ?? .close(ticket: ticket)
        _ = try? await Daemon.ask(.pairing(request))
    }
}
