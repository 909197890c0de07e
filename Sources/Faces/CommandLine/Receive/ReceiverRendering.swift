import Contacts
import ContentCheck
import Control
import Foundation
import Lines
import Operations
import Receiving
import Sharing
import Synchronization

/// Shows what happens at a receiver: for people, or as JSON events.
struct ReceiverRendering: Sendable {
    private let json: Bool
    private let people: Acquaintances
    private let throttle = Throttle()
    private let courses = ReceivingCourses()

    init(json: Bool, people: Acquaintances) {
        self.json = json
        self.people = people
    }

    func show(_ event: ReceiverEvent) {
        if case .reception(.progressed) = event, !throttle.isDue() { return }
        json ? showJSON(event) : showText(event)
    }

    // MARK: For people

    private func showText(_ event: ReceiverEvent) {
        switch event {
        case .ready(let id, let name, let port, let inbox, _):
            Console.shared.note("Receiving as \(TerminalText.escaped(name)) (\(id.short)) on port \(port),")
            Console.shared.note("into \(TerminalText.escaped(inbox, limit: 400)). From another machine:")
            Console.shared.note("  waft send FILE --to \(TerminalText.shellWord(name))")
        case .reception(.stored(let arrival)):
            Console.shared.result { [people] in
                let name = TerminalText.escaped(arrival.stored.name.text)
                let sender = people.person(arrival.peer, callingItself: arrival.senderName).line
                let again = arrival.again == nil ? "" : ", sent again"
                return "\(name)  \(ByteCount.text(arrival.size)) from \(sender)\(again)"
            }
            if let content = arrival.content, [.lying, .mislabelled].contains(content.outcome) {
                Console.shared.note("  \(content.outcome.rawValue): \(TerminalText.escaped(content.explanation))")
            }
            if arrival.item.kind == .text, !arrival.protection.isSealed, Console.shared.isInteractive {
                for line in ShownContents.lines(ofTextAt: arrival.stored.path) { Console.shared.note("  \(line)") }
            }
        case .reception(.opened(let arrival, let answer)) where ![.yes, .none].contains(answer.state):
            let code = answer.exitCode.map { " (exit code \($0))" } ?? ""
            let name = TerminalText.escaped(arrival.stored.name.text)
            let said =
                switch answer.state {
                case .no: "no handler wants \(name)\(code)"
                case .later where arrival.protection.isSealed && answer.exitCode == nil:
                    "the handler of \(name) gets it while Waft is unlocked: waft unlock"
                case .later: "the handler of \(name) will be asked again later\(code)"
                default: "the handler of \(name) failed\(code)"
                }
            Console.shared.note("  \(said); see: waft inbox show \(arrival.number)")
        case .reception(.judged(let offer, let verdict, let peer)) where !verdict.acceptsAnything:
            Console.shared.note(
                "  offer of \(people.person(peer, callingItself: offer.senderName).line): \(Self.refusal(verdict))")
        case .reception(.began(let offer, let peer)):
            courses.begin(offer, from: people.person(peer, callingItself: offer.senderName))
        case .reception(.progressed(let id, _, let received, let total)) where total > 0:
            if let text = courses.text(id, received, of: total) { Console.shared.status(text) }
        case .reception(.ended(let id, let peer, let receipt, let fault)):
            let sender = courses.end(id) ?? peer.shown
            Console.shared.endStatus()
            for name in ShownContents.names(alreadyThere: receipt) { Console.shared.note("  already here: \(name)") }
            if let fault {
                Console.shared.note("  transfer from \(sender) ended: \(TerminalText.escaped(fault.message))")
            } else if let failure = receipt.failures {
                Console.shared.note("  from \(sender): \(TerminalText.escaped(failure))")
            }
        case .remarked(_, _, let entry, let reason):
            Console.shared.note(
                "  \(TerminalText.escaped(entry, limit: 200)): \(TerminalText.escaped(reason, limit: 400))")
        case .protection(let lock):
            for line in lock.words { Console.shared.note("  \(line)") }
        default: break
        }
    }

    /// Why nothing is accepted: the reason of an item that is refused for itself before that of those that go with it.
    private static func refusal(_ verdict: Verdict) -> String {
        let answer = verdict.items.first { $0.reason != ItemVerdict.leftOut.reason } ?? verdict.items.first
        // The reason of the user's own no is for the sender.
        guard let answer, answer != .no else { return "declined" }
        return TerminalText.escaped(OutcomeWords.line(answer, answer.reasonHere), limit: 1_000)
    }

    // MARK: For programs

    private func showJSON(_ event: ReceiverEvent) {
        switch event {
        case .ready(let id, let name, let port, let inbox, _):
            print(ReadyLine(id: id.text, name: name, port: port, inbox: inbox))
        case .reception(.offered(let offer, let peer)):
            print(OfferLine(offer, from: sender(of: offer, peer)))
        case .reception(.judged(let offer, let verdict, let peer)):
            print(AnsweredLine(offer, from: sender(of: offer, peer), verdict.items))
        case .reception(.stored(let arrival)):
            Console.shared.result { TerminalText.escaped(json: line(of: arrival).json) }
        case .reception(.opened(let arrival, let answer)):
            if answer.state != .none { print(line(of: arrival).answered(answer)) }
        case .reception(.ended(let id, let peer, let receipt, let fault)):
            print(ArrivedLine(id, from: peer, fault, failures: receipt.failures))
        case .reception(.progressed(let id, let peer, let received, let total)):
            print(ArrivingLine(id, from: peer, bytes: received, of: total))
        case .remarked(let offer, let peer, let entry, let reason):
            print(AlteredLine(offer, from: sender(of: offer, peer), entry: entry, reason: reason))
        case .protection(let lock): print(lock)
        case .settings(let settings): print(settings)
        case .reception(.began):
            // The progress of the transfer shows this.
            break
        }
    }

    private func print(_ line: some Line) { Console.shared.result(TerminalText.escaped(json: line.json)) }

    private func sender(of offer: Offer, _ peer: PeerID) -> PersonFields {
        people.person(peer, callingItself: offer.senderName).fields
    }

    private func line(of arrival: Arrival) -> ArrivalLine {
        ArrivalLine(arrival, from: people.person(arrival.peer, callingItself: arrival.senderName).fields)
    }
}

/// Parts of a transfer that are shown on a terminal for themselves.
enum ShownContents {
    /// Bytes and lines of a text that are shown.
    private static let textBytes = 2_048
    private static let textLines = 20
    /// Names that are listed.
    private static let names = 10

    /// A text that has arrived, escaped line by line; a text that is too long ends with `…`. Blocks on the disk.
    static func lines(ofTextAt path: String) -> [String] {
        guard let file = FileHandle(forReadingAtPath: path), let bytes = try? file.read(upToCount: textBytes + 1) else {
            return []
        }
        let text = String(decoding: bytes.prefix(textBytes), as: UTF8.self)
        let all = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let shown = all.prefix(textLines).map { TerminalText.escaped(String($0), limit: textBytes) }
        return bytes.count > textBytes || all.count > textLines ? shown + [Glyph.ellipsis] : shown
    }

    /// Names of the items whose contents were in the Inbox before, escaped; further names are counted.
    static func names(alreadyThere receipt: Receipt) -> [String] {
        let all = receipt.items.lazy.filter { $0.isAlready && !$0.isAgain }.compactMap { item -> String? in
            guard case .stored(let name, _, _) = item.outcome else { return nil }
            return TerminalText.escaped(name)
        }
        let rest = all.dropFirst(names).count { _ in true }
        return Array(all.prefix(names)) + (rest > 0 ? ["and \(rest) more"] : [])
    }
}

/// The progress lines of the transfers that come in.
final class ReceivingCourses: Sendable {
    private struct Course {
        /// Escaped.
        var label: String
        /// The sender, escaped.
        var sender: String
        var line: ProgressLine?
    }

    private let courses = Mutex<[TransferID: Course]>([:])

    func begin(_ offer: Offer, from sender: Person) {
        let only = offer.items.count == 1 ? offer.items.first : nil
        let items = only.map { TerminalText.escaped($0.name.text) } ?? "\(offer.items.count) items"
        courses.withLock {
            $0[offer.transfer] = Course(
                label: "\(items) from \(sender.name)",
                sender: sender.line)
        }
    }

    /// - Parameter total: bytes of all items.
    /// - Returns: nil for a transfer that has not begun.
    func text(_ transfer: TransferID, _ received: UInt64, of total: UInt64) -> String? {
        courses.withLock { courses in
            guard var course = courses[transfer] else { return nil }
            var line = course.line ?? ProgressLine(course.label, total: total)
            let text = line.text(bytes: received, at: .now, width: Console.shared.width - 1)
            course.line = line
            courses[transfer] = course
            return text
        }
    }

    /// - Returns: the sender, escaped; nil for a transfer that has not begun.
    @discardableResult
    func end(_ transfer: TransferID) -> String? {
        courses.withLock { $0.removeValue(forKey: transfer)?.sender }
    }
}
