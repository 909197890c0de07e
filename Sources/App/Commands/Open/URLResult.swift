import Endpoints
import Foundation
import HandlerCatalog
import Handlers
import Lines
import Settings
import Sharing

/// The outcome for a URL.
struct URLResult: Sendable {
    struct Attempt: Sendable {
        var identifier: String
        var name: String
        var outcome: AttemptOutcome
    }

    let url: URLParts
    private(set) var attempts: [Attempt] = []
    var exit = WaftExit.handlerSaidNo
    /// Why no handler was asked.
    var fault: String?
    /// Advice about that.
    var hint: String?

    /// Number of lines of a handler's output that are shown.
    private static let shownLines = 10

    init(_ url: URLParts) { self.url = url }

    mutating func add(_ identifier: String, _ name: String, _ outcome: AttemptOutcome) {
        attempts.append(Attempt(identifier: identifier, name: name, outcome: outcome))
        if outcome.answer == .yes { exit = .done }
    }

    /// One line, escaped.
    var text: String { "\(TerminalText.escaped(url.text, limit: 400)): \(words)" }

    private var words: String {
        guard let last = attempts.last else { return fault ?? "no handler was asked" }
        let name = TerminalText.escaped(last.name)
        let reason = last.outcome.reason.isEmpty ? "" : ": " + TerminalText.escaped(last.outcome.reason, limit: 400)
        switch last.outcome.answer {
        case .yes: return "opened by \(name)"
        case .no:
            let names = attempts.map { TerminalText.escaped($0.name) }
            return "\(names.joined(separator: ", ")) said no\(reason)"
        case .later: return "\(name) does not open it now\(reason)"
        case .failed: return "\(name) failed\(reason)"
        }
    }

    /// Further lines for people, escaped: the output of the last handler, and advice.
    var details: [String] {
        let printed = attempts.last?.outcome.standardError.split(whereSeparator: \.isNewline) ?? []
        return printed.suffix(Self.shownLines).map { TerminalText.escaped(String($0)) } + [hint].compactMap(\.self)
    }

    // MARK: For programs

    struct Attempted: Encodable {
        var handler: String
        var name: String
        /// `yes`, `no`, `later` or `failed`.
        var handlerAnswer: String
        var exitCode: Int?
        var signal: Int?
        var reason: String?
        var output: String?

        init(_ attempt: Attempt) {
            let outcome = attempt.outcome
            (handler, name, handlerAnswer) = (attempt.identifier, attempt.name, outcome.answer.rawValue)
            (exitCode, signal) = (outcome.exitCode, outcome.signal)
            reason = outcome.reason.isEmpty ? nil : outcome.reason
            output = outcome.standardError.isEmpty ? nil : outcome.standardError
        }
    }

    struct Opened: Encodable {
        var url: String
        var scheme: String
        /// The handler that has opened it.
        var handler: String
        var attempts: [Attempted]
        var exit = WaftExit.done
    }

    struct Failed: Encodable {
        var url: String
        var scheme: String
        var attempts: [Attempted]
        var reason: String
        /// Exit code of the command, were this the only URL.
        var exit: WaftExit
    }

    var event: EventLine {
        let attempts = attempts.map(Attempted.init)
        if exit == .done, let last = attempts.last {
            let opened = Opened(url: url.text, scheme: url.scheme.text, handler: last.handler, attempts: attempts)
            return .opened(.url(opened))
        }
        return .failed(
            .url(Failed(url: url.text, scheme: url.scheme.text, attempts: attempts, reason: words, exit: exit)))
    }
}
