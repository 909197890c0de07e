import Desktop
import Endpoints
import Foundation
import HandlerCatalog
import Handlers
import Inbox
import Journal
import Lines
import Previews
import Settings
import Sharing
import UniformTypes

/// Hands a document to a program that the user chooses.
struct OpenIn {
    private let context: CommandContext
    private let previewing: Previewing
    private let json: Bool
    private let isAnyway: Bool
    private let annotation: Annotation
    private let folder: String?

    /// - Parameters:
    ///   - anyway: also a document that lies about its content, or that the desktop would run.
    ///   - annotation: of the user, for the program.
    ///   - folder: where an item of the Inbox is moved before an application gets it; nil to leave it in the Inbox.
    init(
        _ context: CommandContext, json: Bool = false, anyway: Bool = false, annotation: Annotation = Annotation(),
        folder: String? = nil
    ) {
        (self.context, self.json, isAnyway) = (context, json, anyway)
        (self.annotation, self.folder) = (annotation, folder)
        previewing = Previewing(context, lines: PreviewBounds.lines, json: json)
    }

    /// - Parameter app: a number of the list, a name or an identifier; nil to ask for it on a terminal.
    /// - Throws: `CommandError`: `ineligible` if nothing opens it or it may not be opened, `usage` for an unknown
    ///   program, or for none without a terminal.
    func run(_ subject: DocumentSubject, app: String?) async throws {
        let list = try list(for: subject)
        if let app { return try await hand(subject, to: try list.target(app), list.calledType) }
        guard !list.targets.isEmpty else { throw list.nothing }
        if json {
            for index in list.targets.indices { EventLine.openIn(OpenInFields(list, index)).print() }
            return
        }
        for line in list.lines { Console.shared.result(line) }
        guard LineReader.hasTerminal else {
            throw CommandError(.usage, "\(subject.head): name one of these programs, or its number")
        }
        Console.shared.prompt("Open in? [1-\(list.targets.count)] ")
        let answer = await LineReader.terminalLine()
        Console.shared.answered()
        guard let answer, !answer.isEmpty else { return }
        try await hand(subject, to: try list.target(answer), list.calledType)
    }

    /// The programs that can get it.
    /// - Throws: `CommandError` `ineligible` if it may not be opened, `inputMissing` if it cannot be read.
    func list(for subject: DocumentSubject) throws(CommandError) -> OpenInList {
        let look = try previewing.look(at: subject)
        if !isAnyway { try DocumentOpening(registry: previewing.registry).check(subject, look) }
        return OpenInList(subject, look, context)
    }

    // MARK: Handing over

    private func hand(_ subject: DocumentSubject, to target: OpenInTarget, _ type: UniformType) async throws {
        switch target {
        case .application(let application): try await start(application, subject)
        case .handler(let bundle, _):
            guard folder == nil else {
                throw CommandError(.usage, "\(subject.head): --copy is for applications; a handler reads the Inbox")
            }
            let outcome =
                if let arrival = subject.arrival {
                    try await HandlerRequest(context).call(bundle, arrival, annotation)
                } else {
                    try await FileRequest(context).call(bundle, subject, type, annotation)
                }
            let name = TerminalText.escaped(bundle.shownName)
            guard outcome.answer == .yes else {
                throw CommandError(outcome, of: bundle.shownName, head: subject.head, subject.arrival?.number)
            }
            let reply = EventLine.HandlerReply(handlerAnswer: outcome.answer.rawValue, exitCode: outcome.exitCode)
            if json {
                let opened = EventLine.Opened.inHandler(subject.event, handler: bundle.identifier.text, reply)
                return EventLine.opened(opened).print()
            }
            Console.shared.result("\(subject.head): opened by \(name)")
        }
    }

    private func start(_ application: Application, _ subject: DocumentSubject) async throws {
        let path = try await path(of: subject)
        let url = URL(fileURLWithPath: path, isDirectory: subject.isFolder).standardizedFileURL.absoluteString
        let name = TerminalText.escaped(application.name)
        switch await ApplicationLaunch(application, url: url, environment: annotation.environment).run() {
        case .failed(let reason):
            throw CommandError(
                .unexpected, "\(subject.head): \(name): \(TerminalText.escaped(reason, limit: 400))")
        case .started:
            if json {
                let opened = EventLine.Opened.inApplication(subject.event, application: application.identifier)
                return EventLine.opened(opened).print()
            }
            Console.shared.result("\(subject.head): handed to \(name)")
        }
    }

    /// The path for an application. An item in the Inbox is read-only; --copy moves it out first.
    private func path(of subject: DocumentSubject) async throws -> String {
        guard let folder, let arrival = subject.arrival else { return subject.path }
        var path: String?
        let leaving = Leaving(inbox: try context.inbox, now: false, json: json)
        let exit = try await leaving.each([ChosenItem(number: arrival.number)]) { entry throws(LeavingError) in
            let taken = try InboxLeaving.take(entry.arrival, inbox: leaving.inbox, to: folder)
            path = taken.path
            return Leaving.Ending(
                how: .taken, toward: taken.path,
                words: "\(Glyph.arrow) \(TerminalText.escaped(taken.path, limit: 4_096))", remark: taken.remark,
                hasLeft: taken.hasLeft)
        }
        guard let path else { throw exit.code }
        return path
    }
}
