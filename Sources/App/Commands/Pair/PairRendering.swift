import Contacts
import Control
import Endpoints
import Lines
import Pairing
import Sending
import Settings
import Sharing

/// The output of `waft pair`: text for people, or one JSON document a line.
struct PairRendering: Sendable {
    let json: Bool
    /// The open file that the answer comes from; nil for the terminal.
    let answers: Int32?

    /// How it ended.
    enum End: Sendable {
        case paired(id: String, key: String, contact: String)
        case failed(WaftExit, String)
    }

    /// - Parameter name: the name that this machine gives itself.
    func opened(code: String?, seconds: Double, name: String) {
        if json { return EventLine.open(EventLine.OpenedPairing(seconds: seconds, code: code)).print() }
        let name = TerminalText.shellWord(name, limit: 64)
        if let code {
            Console.shared.result(code)
            Console.shared.note("Good for one try. On the other machine: waft pair \(name) --code")
        } else {
            Console.shared.note("Waiting for a peer. On the other machine: waft pair \(name)")
        }
    }

    func came(_ peer: PairingProgress.Peer) {
        if json {
            return EventLine.peer(EventLine.PairingPeer(peer: Self.fields(peer), warning: peer.warning)).print()
        }
        let contact = peer.isContact ? peer.name : nil
        let person = Person.line(contact, claims: nil, name: peer.name, peer: peer.id, via: nil)
        Console.shared.note("\(person)\(peer.isContact ? " (\(peer.key))" : "") wants to pair.")
        if let warning = peer.warning { Console.shared.note("  \(TerminalText.escaped(warning, limit: 400))") }
    }

    private static func fields(_ peer: PairingProgress.Peer) -> EventLine.Peer {
        EventLine.Peer(
            id: peer.id, name: peer.isContact ? nil : peer.name, contact: peer.isContact ? peer.name : nil)
    }

    func compare(digits: String, words: [String]) {
        if json { return EventLine.compare(EventLine.Compared(digits: digits, words: words)).print() }
        Console.shared.note("\n    \(digits.prefix(3)) \(digits.suffix(3))    \(words.joined(separator: " "))\n")
    }

    /// Whether both sides show the same, as the user answers; nil if the task is cancelled or no answer can come.
    func isSame() async -> Bool? {
        Console.shared.prompt("Does the other screen show the same? [y/n] ")
        for await line in answers.map(LineReader.lines) ?? LineReader.terminalLines() {
            Console.shared.answered()
            switch line.lowercased() {
            case "y", "yes": return true
            case "n", "no": return false
            default: Console.shared.prompt("Please answer y or n: ")
            }
        }
        return nil
    }

    func confirmed() {
        if !json { Console.shared.note("Waiting for the other side.") }
    }

    func goneAgain() {
        if !json { Console.shared.note("The other machine has left; waiting for a peer.") }
    }

    func show(_ end: End) -> WaftExit {
        switch end {
        case .paired(let id, let key, let contact):
            if json {
                EventLine.paired(EventLine.Paired(peer: EventLine.Peer(id: id, contact: contact))).print()
            } else {
                Console.shared.result("paired with \(TerminalText.escaped(contact, limit: 80)) (\(key))")
            }
            return .done
        case .failed(let exit, let reason):
            if json {
                EventLine(CommandError(exit, "not paired: \(reason)")).print()
                return exit
            }
            Console.shared.endStatus()
            Console.shared.note("waft: not paired: \(TerminalText.escaped(reason, limit: 400))")
            return exit
        }
    }
}

extension PairRendering.End {
    init(_ code: PairingEndError.Code, _ reason: String) {
        let exit: WaftExit =
            switch code {
            case .declined: .declined
            case .noAnswer: .noAnswer
            case .lost: .unreachable
            case .cancelled: .interrupted
            case .failed: .unexpected
            }
        self = .failed(exit, reason)
    }

    init(_ failure: PairingStartError) {
        switch failure.code {
        case .notFound:
            // A peer that is visible to contacts only tells its name while it accepts a pairing.
            let isAdvised = failure.reason.contains("waft pair --accept")
            self = .failed(
                .peerNotFound, isAdvised ? failure.reason : "\(failure.reason); run there first: waft pair --accept")
        case .ambiguous: self = .failed(.usage, failure.reason)
        case .ended(let code): self.init(code, failure.reason)
        }
    }
}
