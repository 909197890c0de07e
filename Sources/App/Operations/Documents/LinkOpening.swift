import Foundation
package import HandlerCatalog
import Handlers
package import Lines
import Logging
import Settings
import Sharing
import SystemCalls

extension Waft {
    /// Opens URLs and calls handlers without a receiver.
    /// - Throws: `WaftError`: `usage` if another user could change the Inbox, `unexpected` if a folder that the sandbox needs
    ///   cannot be made.
    package func linkOpening(_ annotation: Annotation = Annotation()) throws(WaftError) -> LinkOpening {
        LinkOpening(
            snapshot: home.handlerCatalog(settings).load(), runner: try handlerRunner(),
            timeLimit: settings.hookTimeout, requiresSandbox: settings.requiresSandbox,
            opener: SystemOpener(inheritsAll: true), annotation: annotation)
    }

    /// Runs handlers' programs for a person, beside the receiver.
    /// - Throws: as `linkOpening`.
    func handlerRunner() throws(WaftError) -> HandlerRunner {
        if let settingsFault { throw settingsFault }
        let inbox = try trustedInbox
        do {
            try home.makeFolders()
            // The sandbox has a rule for the Inbox, even before anything has arrived.
            try FileManager.default.createDirectory(
                atPath: inbox, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw WaftError(.unexpected, "\(error)")
        }
        var logger = logger
        // Warnings about a handler are shown with its answer.
        if logger.logLevel >= .notice { logger.logLevel = .error }
        let catalog = home.handlerCatalog(settings)
        // The receiver sweeps its own folder when it starts, so this is another one.
        return HandlerRunner(
            inbox: inbox, scratchFolder: home.run + "/open", forbiddenPlaces: catalog.closed.paths,
            firstLaunches: catalog.firstLaunches, logger: logger)
    }

    /// The path of the Inbox.
    var trustedInbox: String {
        get throws(WaftError) {
            do {
                try home.checkInboxTrust()
            } catch {
                throw WaftError(.usage, "\(error)")
            }
            return home.inbox
        }
    }
}

/// Facts of the user for the program that opens something, here or at a receiver.
package struct Annotation: Equatable, Sendable {
    /// The variable of an application, with a JSON object.
    private static let variable = "WAFT_ANNOTATION"

    /// The values by their keys; at most `Limits.annotationBytes` in all.
    package let values: [String: String]

    package init(_ values: [String: String] = [:]) { self.values = values }

    /// Bytes of an annotation, as they are counted against `Limits.annotationBytes`.
    package static func bytes(of values: [String: String]) -> Int {
        values.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
    }

    /// The environment of an application.
    package var environment: [String: String?] { [Self.variable: values.isEmpty ? nil : json] }

    /// One line: an object of texts.
    package var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(values)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}

/// Opens URLs: asks the handlers of a scheme one after another, or the desktop.
package struct LinkOpening: Sendable {
    /// The outcome for a URL.
    package enum Outcome: Sendable {
        case opened(LinkOpenedLine)
        case failed(LinkFailedLine)
    }

    let snapshot: CatalogSnapshot
    let runner: HandlerRunner
    /// Time limit of handlers that declare none.
    let timeLimit: Duration
    /// Whether a handler with a sandbox may not run if the kernel cannot enforce the sandbox.
    let requiresSandbox: Bool
    /// Opens URLs on the desktop; nil without `xdg-open`.
    let opener: SystemOpener?
    /// Facts of the user for the handler.
    var annotation = Annotation()

    /// - Throws: `WaftError`, `usage` for a text that is no URL.
    package static func parts(_ text: String) throws(WaftError) -> URLParts {
        do throws(URLPartsError) {
            return try URLParts(text)
        } catch {
            let shown = ShownText.line(text, limit: 200)
            let word = ShellWord.quoted(shown)
            throw WaftError(
                .usage, "\(shown): \(error)",
                hint: error == .noScheme
                    ? "for a file: waft open-in \(word); for an item: waft inbox open \(word)" : nil)
        }
    }

    /// - Throws: `CancellationError` when the task is cancelled; by then the handler has been ended.
    package func open(_ url: URLParts) async throws(CancellationError) -> Outcome {
        var attempts: [LinkAttempt] = []
        func failed(_ exit: WaftExit, _ reason: String, hint: String? = nil) -> Outcome {
            .failed(
                LinkFailedLine(
                    url: url.text, scheme: url.scheme.text, attempts: attempts, reason: reason, exit: exit, hint: hint))
        }
        var last: AttemptOutcome?
        func add(_ handler: String, _ name: String, _ outcome: AttemptOutcome) {
            last = outcome
            attempts.append(
                LinkAttempt(
                    handler: handler, name: name, answer: outcome.answer.rawValue, exitCode: outcome.exitCode,
                    signal: outcome.signal, reason: outcome.reason, output: outcome.standardError))
        }
        switch snapshot.schemeHandlers(for: url) {
        case .builtIn(let scheme):
            guard let opener else {
                return failed(
                    .unexpected, "\(scheme): URLs are opened by xdg-open, which is missing; install xdg-utils")
            }
            add(SystemOpener.identifier, "xdg-open", await opener.open(url, environment: annotation.environment))
        case .handlers(let claims):
            for claim in claims {
                guard let program = program(claim.bundle) else { continue }
                let call = HookCall.open(url, received: nil, attempt: 1).annotated(annotation.values)
                add(program.identifier, program.name, try await ask(program, call))
                // Only after a plain no, the next handler is asked.
                if last?.answer != .no { break }
            }
        }
        guard let last else {
            let known = ["http", "https", "mailto", "tel", "sms", "file"] + snapshot.openedSchemes.map(\.text)
            return failed(
                .ineligible,
                "no handler for \(url.scheme): URLs; known: \(known.prefix(40).joined(separator: ", "))",
                hint: "add a handler with: waft handlers add --name NAME --scheme \(url.scheme) --run PROGRAM")
        }
        if last.answer == .yes,
            let line = LinkOpenedLine(url: url.text, scheme: url.scheme.text, attempts: attempts)
        {
            return .opened(line)
        }
        let names = attempts.map { ShownText.line($0.name, limit: 200) }
        let reason = last.reason.isEmpty ? "" : ": " + ShownText.line(last.reason, limit: 400)
        let words =
            switch last.answer {
            case .no: "\(names.joined(separator: ", ")) said no"
            case .later: "\(names.last ?? "") does not open it now"
            case .yes, .failed: "\(names.last ?? "") failed"
            }
        return failed(.handlerSaidNo, words + reason)
    }

    /// - Returns: nil for a built-in handler.
    func program(_ bundle: HandlerBundle) -> HandlerProgram? {
        HandlerProgram(bundle: bundle, defaultTimeLimit: timeLimit, requiresSandbox: requiresSandbox)
    }

    /// - Throws: as `open`.
    func ask(_ program: HandlerProgram, _ call: HookCall) async throws(CancellationError) -> AttemptOutcome {
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
}
