import ArgumentParser
import Endpoints
import Foundation
import HandlerCatalog
import Handlers
import Logging
import Settings
import Sharing

/// `waft open`: opens URLs with the handlers of their schemes.
struct OpenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Open a URL with the handler of its scheme.",
        discussion: """
            Example: waft open photo:album/7

            http, https, mailto, tel, sms and file go to the desktop, by xdg-open. For all others the handlers of the scheme \
            are asked, in the order that waft handlers test URL shows, until one says yes. Exit code 16 when none does, 13 \
            when there is none.
            """
    )

    @Argument(help: ArgumentHelp("URLs.", valueName: "url"))
    var urls: [String]

    @OptionGroup var output: OutputOptions

    func run() async throws {
        // All URLs are checked before the first is opened.
        let urls = try self.urls.map(Self.parts)
        let surroundings = try Surroundings()
        let opening = try Self.opening(surroundings)
        let json = output.json
        let cancellation = Cancellation()
        let exits = try await Interruption.watching(cancellation, goodbye: .zero) {
            var exits: [WaftExit] = []
            for url in urls where !cancellation.isRequested {
                do throws(CancellationError) {
                    let outcome = try await opening.open(url)
                    Self.show(outcome, json: json)
                    exits.append(outcome.exit)
                } catch {
                    break
                }
            }
            return exits
        }
        let exit = cancellation.isRequested ? .interrupted : exits.first { $0 != .done } ?? .done
        if exit != .done { throw exit.code }
    }

    static func parts(_ text: String) throws(CommandFailure) -> URLParts {
        do throws(URLRefusal) {
            return try URLParts(text)
        } catch {
            throw CommandFailure(.usage, "\(TerminalText.escaped(text)): \(error)")
        }
    }

    private static func opening(_ surroundings: Surroundings) throws(CommandFailure) -> URLOpening {
        let (home, settings) = (surroundings.home, surroundings.settings)
        let inbox = try surroundings.inbox
        do {
            try home.makeFolders()
            // The sandbox has a rule for the Inbox, even before anything has arrived.
            try FileManager.default.createDirectory(
                atPath: inbox, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw CommandFailure(.unexpected, TerminalText.escaped("\(error)", limit: 1_000))
        }
        var logger = surroundings.logger("waft")
        // Warnings about a handler are shown with its answer.
        if logger.logLevel >= .notice { logger.logLevel = .error }
        let catalog = home.handlerCatalog(settings)
        return URLOpening(
            snapshot: catalog.load(),
            // The receiver sweeps its own folder when it starts, so this is another one.
            runner: HandlerRunner(
                inbox: inbox, scratchFolder: home.run + "/open", forbiddenPlaces: catalog.closed.paths,
                firstLaunches: catalog.firstLaunches, logger: logger),
            timeLimit: settings.hookTimeout,
            requiresSandbox: settings.requiresSandbox,
            opener: SystemOpener()
        )
    }

    private static func show(_ outcome: URLOutcome, json: Bool) {
        if json { return outcome.event.print() }
        if outcome.exit == .done { return Console.shared.result(outcome.text) }
        Console.shared.note("waft: \(outcome.text)")
        for line in outcome.details { Console.shared.note("  \(line)") }
    }
}

/// Opens URLs: asks the handlers of a scheme one after another, or the desktop.
struct URLOpening: Sendable {
    let snapshot: CatalogSnapshot
    let runner: HandlerRunner
    /// Time limit of handlers that declare none.
    let timeLimit: Duration
    /// Whether a handler with a sandbox may not run if the kernel cannot enforce the sandbox.
    let requiresSandbox: Bool
    /// Opens URLs on the desktop; nil without `xdg-open`.
    let opener: SystemOpener?

    /// - Throws: `CancellationError` when the task is cancelled; by then the handler has been ended.
    func open(_ url: URLParts) async throws(CancellationError) -> URLOutcome {
        var outcome = URLOutcome(url)
        switch snapshot.schemeHandlers(for: url) {
        case .builtIn(let scheme):
            guard let opener else {
                outcome.fault = "\(scheme): URLs are opened by xdg-open, which is missing; install xdg-utils"
                outcome.exit = .unexpected
                return outcome
            }
            outcome.add(SystemOpener.identifier, "xdg-open", await opener.open(url))
        case .handlers(let claims):
            for claim in claims {
                guard let program = program(claim.bundle) else { continue }
                outcome.add(program.identifier, program.name, try await ask(program, url))
                // Only after a plain no, the next handler is asked.
                if outcome.attempts.last?.outcome.answer != .no { break }
            }
            if outcome.attempts.isEmpty {
                outcome.fault = "no handler for \(url.scheme): URLs; \(others)"
                outcome.hint = "add a handler with: waft handlers add --name NAME --scheme \(url.scheme) --run PROGRAM"
                outcome.exit = .ineligible
            }
        }
        return outcome
    }

    private func program(_ bundle: HandlerBundle) -> HandlerProgram? {
        HandlerProgram(bundle: bundle, defaultTimeLimit: timeLimit, requiresSandbox: requiresSandbox)
    }

    private func ask(_ program: HandlerProgram, _ url: URLParts) async throws(CancellationError) -> AttemptOutcome {
        let call = HookCall.open(url, received: nil, attempt: 1)
        guard program.mode == .resident else {
            if let refusal = try await runner.launch(program, call) { return refusal }
            return try await runner.run(program, call)
        }
        // A process of this command: the receiver's resident handler gets arrivals only.
        let resident = ResidentHandler(program: program, runner: runner)
        let result: Result<AttemptOutcome, CancellationError>
        do throws(CancellationError) {
            result = .success(try await resident.ask(call))
        } catch {
            result = .failure(error)
        }
        await resident.stop()
        return try result.get()
    }

    private var others: String {
        let schemes = ["http", "https", "mailto", "tel", "sms", "file"] + snapshot.openedSchemes.map(\.text)
        return "known: \(schemes.prefix(40).joined(separator: ", "))"
    }
}

/// The outcome for a URL.
struct URLOutcome: Sendable {
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
