import Foundation
import Lines
import Operations
import Sharing
import Synchronization

/// Shows what happens at a receiver: for people, or as JSON events.
struct ReceiverRendering: Sendable {
    private let json: Bool
    private let courses = ReceivingProgress()

    init(json: Bool) {
        self.json = json
    }

    func show(_ news: ReceiverNews) {
        guard json else { return showText(news) }
        guard let line = news.line else { return }
        if case .arrival = news {
            Console.shared.result { TerminalText.escaped(json: line.json) }
        } else {
            Console.shared.result(TerminalText.escaped(json: line.json))
        }
    }

    private func showText(_ news: ReceiverNews) {
        switch news {
        case .ready(let line):
            let id = PeerID(text: line.id)?.short ?? ""
            Console.shared.note("Receiving as \(TerminalText.escaped(line.name)) (\(id)) on port \(line.port),")
            Console.shared.note("into \(TerminalText.escaped(line.inbox, limit: 400)). From another machine:")
            Console.shared.note("  waft send FILE --to \(TerminalText.shellWord(line.name))")
        case .arrival(let line, let sender) where line.change == .stored:
            Console.shared.result {
                let again = line.again == nil ? "" : ", sent again"
                return "\(TerminalText.escaped(line.stored))  \(ByteCount.text(line.size)) from \(sender.line)\(again)"
            }
            if let content = line.content, ["lying", "mislabelled"].contains(content) {
                Console.shared.note("  \(content): \(TerminalText.escaped(line.contentExplanation ?? ""))")
            }
            if line.kind == ItemKind.text.rawValue, !line.isSealed, Console.shared.isInteractive {
                for line in ShownContents.lines(ofTextAt: line.path) { Console.shared.note("  \(line)") }
            }
        case .arrival(let line, _):
            guard let answer = line.handlerAnswer.flatMap(HandlerAnswer.State.init), ![.yes, .none].contains(answer)
            else { return }
            let code = line.exitCode.map { " (exit code \($0))" } ?? ""
            let name = TerminalText.escaped(line.stored)
            let said =
                switch answer {
                case .no: "no handler wants \(name)\(code)"
                case .later where line.isSealed && line.exitCode == nil:
                    "the handler of \(name) gets it while Waft is unlocked: waft unlock"
                case .later: "the handler of \(name) will be asked again later\(code)"
                default: "the handler of \(name) failed\(code)"
                }
            Console.shared.note("  \(said); see: waft inbox show \(line.arrival)")
        case .answered(_, let verdict, let sender) where !verdict.acceptsAnything:
            Console.shared.note("  offer of \(sender.line): \(Self.refusal(verdict))")
        case .began(let offer, let sender): courses.begin(offer, from: sender)
        case .moved(let line) where line.total > 0:
            if let text = courses.text(line) { Console.shared.status(text) }
        case .ended(let line, let receipt, let peer):
            let sender = courses.end(line.transfer) ?? peer.shown
            Console.shared.endStatus()
            for name in ShownContents.names(alreadyThere: receipt) { Console.shared.note("  already here: \(name)") }
            guard let reason = line.reason.map({ TerminalText.escaped($0) }) else { return }
            Console.shared.note(
                line.isFailed ? "  transfer from \(sender) ended: \(reason)" : "  from \(sender): \(reason)")
        case .altered(let line, _):
            Console.shared.note(
                "  \(TerminalText.escaped(line.name, limit: 200)): \(TerminalText.escaped(line.reason, limit: 400))")
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
final class ReceivingProgress: Sendable {
    private struct Transfer {
        /// Escaped.
        var label: String
        /// The sender, escaped.
        var sender: String
        var line: ProgressLine?
    }

    private let courses = Mutex<[String: Transfer]>([:])

    func begin(_ offer: OfferLine, from sender: Person) {
        let only = offer.count == 1 ? offer.items.first : nil
        let items = only.map { TerminalText.escaped($0.name) } ?? "\(offer.count) items"
        courses.withLock {
            $0[offer.transfer] = Transfer(label: "\(items) from \(sender.name)", sender: sender.line)
        }
    }

    /// - Returns: nil for a transfer that has not begun.
    func text(_ moved: ArrivingLine) -> String? {
        courses.withLock { courses in
            guard var course = courses[moved.transfer] else { return nil }
            var line = course.line ?? ProgressLine(course.label, total: moved.total)
            let text = line.text(bytes: moved.bytes, at: .now, width: Console.shared.width - 1)
            course.line = line
            courses[moved.transfer] = course
            return text
        }
    }

    /// - Returns: the sender, escaped; nil for a transfer that has not begun.
    @discardableResult
    func end(_ transfer: String) -> String? {
        courses.withLock { $0.removeValue(forKey: transfer)?.sender }
    }
}
