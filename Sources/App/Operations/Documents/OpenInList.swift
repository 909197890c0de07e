import ContentCheck
import Control
import DBusClient
import Desktop
import Endpoints
import Foundation
import HandlerCatalog
import Handlers
import Journal
package import Lines
import Settings
import Sharing
import UniformTypes

/// A program that can get a document.
package struct OpenInTarget: Sendable {
    fileprivate enum Program: Sendable {
        /// - Parameters:
        ///   - opens: the type that it declares.
        ///   - type: that it gets for a file outside the Inbox.
        case handler(HandlerBundle, opens: UniformType, type: UniformType)
        case application(Application)
    }

    fileprivate let program: Program

    /// Whether it is a handler, which ends when the call does.
    package var isHandler: Bool { if case .handler = program { true } else { false } }

    /// For people; not escaped.
    fileprivate var name: String {
        switch program {
        case .handler(let bundle, _, _): bundle.shownName
        case .application(let application): application.name
        }
    }

    /// Whether a word of the user means it.
    fileprivate func isNamed(_ word: String) -> Bool {
        let names =
            switch program {
            case .handler(let bundle, _, _): [bundle.name, bundle.identifier.text]
            case .application(let application): [application.identifier, application.desktopName]
            }
        return (names + [name]).contains { $0.lowercased() == word.lowercased() }
    }
}

extension Application {
    /// Its desktop id without the ending.
    fileprivate var desktopName: String {
        let ending = ".desktop"
        return identifier.lowercased().hasSuffix(ending) ? String(identifier.dropLast(ending.count)) : identifier
    }

    /// - Parameter hasTerminal: whether a program gets a terminal.
    fileprivate func starts(_ hasTerminal: Bool) -> Bool { runsInTerminal ? hasTerminal : DesktopSession.hasDisplay() }
}

/// The programs that can get a document: the handlers first, then the applications.
package struct OpenInList: Sendable {
    private let document: Document
    /// The type of the document. The programs open this type.
    private let type: UniformType
    private let targets: [OpenInTarget]
    /// Applications that would open it, but have no display or no terminal here.
    private let absent: [Application]
    /// Whether the applications of the desktop could be looked up.
    private let knowsApplications: Bool

    fileprivate init(_ documents: Documents, _ document: Document, _ look: Documents.Look) {
        (self.document, type) = (document, look.type)
        // Another type is harmless, unless it lies: then the content alone counts.
        let types = look.isLying || look.type == document.declared ? [look.type] : [look.type, document.declared]
        let kind: FileKind = document.isFolder ? .directory : .regularFile
        let found = Application.all(for: documents.registry.mimeTypes(of: types, kind: kind))
        let (applications, hasTerminal) = (found ?? [], documents.face.givesTerminal)
        knowsApplications = found != nil
        absent = applications.filter { !$0.starts(hasTerminal) }
        targets =
            Self.handlers(documents.waft, document, look, kind)
            + applications.filter { $0.starts(hasTerminal) }.map { OpenInTarget(program: .application($0)) }
    }

    /// Those that would get the item, in the order in which they are asked. A file outside the Inbox has the type of its
    /// name or, if that has none, of its content.
    private static func handlers(
        _ waft: Waft, _ document: Document, _ look: Documents.Look, _ kind: FileKind
    ) -> [OpenInTarget] {
        guard !look.isLying, document.arrival?.content?.outcome != .lying else { return [] }
        var catalog = waft.home.handlerCatalog(waft.settings, includingHook: true)
        catalog.languages = UserLanguages.names(ProcessInfo.processInfo.environment)
        let snapshot = catalog.load()
        let type = document.arrival?.type ?? (document.declared.isDynamic ? look.type : document.declared)
        let claims = snapshot.claimants(of: type, kind: document.arrival?.item.kind.fileKind ?? kind)
        return claims.filter { $0.bundle.origin < .configuration && snapshot.isEnabled($0.bundle) }
            .map { OpenInTarget(program: .handler($0.bundle, opens: $0.claimedType, type: type)) }
    }

    package var isEmpty: Bool { targets.isEmpty }

    /// The default of the applications, or the first one.
    fileprivate var application: OpenInTarget? { targets.first { !$0.isHandler } }

    package var lines: [OpenInLine] {
        targets.enumerated().map { index, target in
            switch target.program {
            case .handler(let bundle, let opens, _):
                OpenInLine(
                    document.name, type: type.identifier, place: index + 1, program: target.name,
                    handler: bundle.identifier.text, opens: opens.words)
            case .application(let application):
                OpenInLine(
                    document.name, type: type.identifier, place: index + 1, program: target.name,
                    application: application.identifier, isDefault: application.isDefault,
                    runsInTerminal: application.runsInTerminal)
            }
        }
    }

    /// - Parameter word: a number of the list, a name in any case, a desktop id or the identifier of a bundle.
    /// - Throws: `WaftError`: `ineligible` for an application that cannot start here, `usage` for an unknown word.
    package func target(_ word: String) throws(WaftError) -> OpenInTarget {
        if let number = Int(word), number > 0, targets.indices.contains(number - 1) { return targets[number - 1] }
        if let target = targets.first(where: { $0.isNamed(word) }) { return target }
        if let application = absent.first(where: { OpenInTarget(program: .application($0)).isNamed(word) }) {
            throw WaftError(
                .ineligible,
                "\(document.head): \(ShownText.line(application.name, limit: 200)) needs a "
                    + (application.runsInTerminal
                        ? "terminal" : "desktop: DISPLAY and WAYLAND_DISPLAY are not set"))
        }
        let names = targets.prefix(20).map { ShownText.line($0.name, limit: 200) }.joined(separator: ", ")
        let things = document.isFolder ? "folders" : type.identifier
        throw WaftError(
            .usage, "\(document.head): \(ShownText.line(word, limit: 200)) does not open \(things)",
            hint: names.isEmpty ? nil : "programs that do: \(names)")
    }

    /// The failure for an empty list.
    package var nothing: WaftError {
        let hint: String? =
            if !knowsApplications {
                "the applications of the desktop are found by libgio-2.0; install libglib2.0-0"
            } else if let first = absent.first {
                "\(ShownText.line(first.name, limit: 200)) needs a \(first.runsInTerminal ? "terminal" : "desktop")"
            } else {
                nil
            }
        return WaftError(.ineligible, "\(document.head): nothing here opens \(type.identifier)", hint: hint)
    }
}

extension Documents {
    /// The programs that can get a document. The list can be empty.
    /// - Parameter anyway: also a document that lies about its content, or that the desktop would run.
    /// - Throws: `WaftError`: `ineligible` if it may not be opened, `inputMissing` if it cannot be read.
    package func programs(for document: Document, anyway: Bool = false) throws(WaftError) -> OpenInList {
        let look = try look(at: document)
        if !anyway { try check(document, look) }
        return OpenInList(self, document, look)
    }

    func programs(for document: Document, _ look: Look) -> OpenInList { OpenInList(self, document, look) }

    /// Hands a document to a program that the user has chosen.
    /// - Parameter annotation: of the user, for the program.
    /// - Throws: `WaftError`: `handlerSaidNo`; `inputMissing` if an item has left the Inbox; `locked` if it is sealed and cannot
    ///   be opened; `usage` for a file in the Inbox or a mistake in the settings; `interrupted` when the task is cancelled, and
    ///   the handler has been ended; `unexpected` if the program could not be called.
    package func open(
        _ document: Document, in target: OpenInTarget, _ annotation: Annotation = Annotation()
    ) async throws(WaftError) -> DocumentOpenedLine {
        switch target.program {
        case .application(let application):
            let name = ShownText.line(application.name, limit: 200)
            let launch = ApplicationLaunch(
                application, url: document.url.absoluteString, environment: annotation.environment)
            switch await launch.run() {
            case .failed(let reason):
                throw WaftError(
                    .unexpected, "\(document.head): \(name): \(ShownText.line(reason, limit: 400))")
            case .started:
                return DocumentOpenedLine(
                    document.name, application: application.identifier, said: "handed to \(name)")
            }
        case .handler(let bundle, _, let type):
            let outcome =
                if let arrival = document.arrival {
                    try await ask(bundle, about: arrival, annotation)
                } else {
                    try await ask(bundle, about: document, type, annotation)
                }
            let name = ShownText.line(bundle.shownName, limit: 200)
            guard outcome.answer == .yes else {
                let reason = outcome.reason.isEmpty ? "" : ": " + ShownText.line(outcome.reason, limit: 400)
                let answer = outcome.answer == .failed ? "failed" : "said \(outcome.answer.rawValue)"
                throw WaftError(
                    .handlerSaidNo, "\(document.head): \(name) \(answer)\(reason)",
                    hint: document.arrival.map { "its output: waft inbox show \($0.number)" })
            }
            return DocumentOpenedLine(
                document.name, handler: bundle.identifier.text, answer: outcome.answer.rawValue,
                exitCode: outcome.exitCode, said: "opened by \(name)")
        }
    }

    /// Shows it in a window of the desktop: in GNOME's previewer, or else in the default application.
    /// - Throws: `WaftError`: `ineligible` if nothing shows it, or if it is not what it claims to be, or would be run;
    ///   `unexpected` without a desktop.
    package func showInWindow(_ document: Document) async throws(WaftError) -> DocumentOpenedLine {
        guard DesktopSession.hasDisplay() else {
            throw WaftError(
                .unexpected, "there is no desktop here: DISPLAY and WAYLAND_DISPLAY are not set",
                hint: "leave out --window")
        }
        // Before any other program gets it.
        let list: OpenInList
        do throws(WaftError) {
            list = try programs(for: document)
        } catch {
            throw WaftError(error.code, error.reason, hint: error.code == .ineligible ? "leave out --window" : nil)
        }
        do throws(BusError) {
            try await PreviewerWindow.show(document.url.path)
        } catch {
            guard let application = list.application else { throw list.nothing }
            return try await open(document, in: application)
        }
        return DocumentOpenedLine(document.name, application: PreviewerWindow.name, said: "shown in a window")
    }

    // MARK: The calls of handlers

    /// With the user's settings: a handler may have to have a sandbox.
    private func linkOpening() throws(WaftError) -> LinkOpening {
        if let fault = waft.settingsFault { throw fault }
        return try waft.linkOpening()
    }

    /// Asks a handler about a file outside the Inbox. The handler runs here, and its sandbox lets it read this file too. The
    /// journal has only items of the Inbox.
    private func ask(
        _ bundle: HandlerBundle, about document: Document, _ type: UniformType, _ annotation: Annotation
    ) async throws(WaftError) -> AttemptOutcome {
        let path = URL(fileURLWithPath: document.path).standardizedFileURL.path
        let real = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let inbox = URL(fileURLWithPath: try waft.trustedInbox).resolvingSymlinksInPath().path
        guard PathText.part(of: real, below: inbox) == nil else {
            throw WaftError(
                .usage, "\(document.head): it is in the Inbox, where a handler gets items by their number",
                hint: "waft inbox open-in \(PathText.names(in: real).last.map(String.init) ?? real)")
        }
        let opening = try linkOpening()
        guard var program = opening.program(bundle) else {
            throw WaftError(
                .unexpected, "\(document.head): \(ShownText.line(bundle.shownName, limit: 200)) has no program")
        }
        program.readablePaths.append(real)
        let facts = SharedFacts(
            file: path, name: PathText.names(in: path).last.map(String.init) ?? path, type: type,
            kind: document.isFolder ? .tree : .file, size: document.fileSize)
        let call = HookCall.open(facts, isBatch: program.mode == .perTransfer).annotated(annotation.values)
        do throws(CancellationError) {
            return try await opening.ask(program, call)
        } catch {
            throw WaftError.interrupted
        }
    }

    /// A receiver may start or stop between the two ways.
    private static let tries = 3
    /// Longer than the time limit of any handler, and a wait for its other items.
    private static let patience: Duration = .seconds(24 * 3_600)

    /// Asks a handler about an item of the Inbox: by the running receiver, or here if none runs. The journal has it as an
    /// attempt that a person asked for.
    private func ask(
        _ bundle: HandlerBundle, about arrival: Arrival, _ annotation: Annotation
    ) async throws(WaftError) -> AttemptOutcome {
        let request = ControlRequest.open(
            arrival: arrival.number.value, handler: bundle.identifier.text, annotation: annotation.values)
        var failure = WaftError(.unexpected, "the receiver gave no answer")
        for _ in 0..<Self.tries {
            switch try await waft.receiver.askIfRunning(request, timeout: Self.patience) {
            case .handlerAnswered(let answer, let exitCode, let reason):
                guard let answer = AttemptOutcome.Answer(rawValue: answer) else { throw failure }
                return AttemptOutcome(answer, exitCode: exitCode, reason: reason)
            case .unknown(let reason): throw WaftError(.inputMissing, reason)
            case .locked(let reason): throw WaftError(.locked, reason, hint: WaftError.unlockHint)
            case .refused(let reason): throw WaftError(.unexpected, reason)
            case nil: break
            default: throw failure
            }
            let attempt: Int
            do throws(JournalError) {
                attempt = try begin(arrival.number, bundle)
            } catch {
                failure = WaftError(.unexpected, error.description)
                continue
            }
            return try await askHere(bundle, about: arrival, annotation, attempt)
        }
        throw failure
    }

    private var journal: Journal {
        get throws(JournalError) { try Journal(folder: waft.home.state, dialects: .known) }
    }

    /// - Returns: the number of the attempt; 0 if the item has left. A receiver can start during the call: only a moment
    ///   before and after it does this command have the journal.
    private func begin(_ number: ArrivalNumber, _ bundle: HandlerBundle) throws(JournalError) -> Int {
        let journal = try journal
        guard try journal.isThere(number) else { return 0 }
        return try journal.began([number], handler: bundle.identifier.text, isAsked: true, at: .now).first ?? 1
    }

    private func askHere(
        _ bundle: HandlerBundle, about arrival: Arrival, _ annotation: Annotation, _ attempt: Int
    ) async throws(WaftError) -> AttemptOutcome {
        let opening = try linkOpening()
        guard attempt > 0, let program = opening.program(bundle) else {
            throw WaftError(.inputMissing, "item \(arrival.number) has left the Inbox")
        }
        let plain: HookCall =
            (program.mode == .perTransfer ? HookCall.open([(arrival: arrival, attempt: attempt)]) : nil)
            ?? .open(arrival, attempt: attempt)
        let outcome: AttemptOutcome
        do throws(CancellationError) {
            outcome = try await opening.ask(program, plain.annotated(annotation.values))
        } catch {
            record(AttemptOutcome(.later, reason: "interrupted"), arrival, bundle, attempt)
            throw WaftError.interrupted
        }
        record(outcome, arrival, bundle, attempt)
        return outcome
    }

    private func record(_ outcome: AttemptOutcome, _ arrival: Arrival, _ bundle: HandlerBundle, _ attempt: Int) {
        let number = arrival.number
        do throws(JournalError) {
            let journal = try journal
            guard try waft.journal.entry(number)?.attemptCount == attempt else {
                throw JournalError("another handler was asked meanwhile")
            }
            try journal.ended([number], outcome, next: outcome.answer == .yes ? .ended(.yes) : .unchanged, at: .now)
            if !FileManager.default.fileExists(atPath: arrival.stored.path) {
                try journal.departed([number], Departure(.handler, at: .now, toward: bundle.identifier.text))
            }
        } catch {
            face.remark("the answer could not be recorded: \(error.description)")
        }
    }
}
