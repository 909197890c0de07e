import ArgumentParser
import ContentCheck
import DBusClient
import Desktop
import Foundation
import Handlers
import Lines
import Previews
import Sharing
import UniformTypes

/// Lists the actions for a document that work here, and does one of them.
struct DocumentMenu {
    let previewing: Previewing
    private let context: CommandContext
    private let json: Bool

    init(_ context: CommandContext, json: Bool) {
        (self.context, self.json) = (context, json)
        previewing = Previewing(context, lines: PreviewBounds.lines, json: json)
    }

    /// - Parameter check: only whether this works; nil to list all, and to ask on a terminal.
    /// - Throws: `CommandError` `ineligible` if it does not work, or nothing does; the errors of the chosen action.
    func run(_ subject: DocumentSubject, check: DocumentAction?) async throws {
        let look = try previewing.look(at: subject)
        let actions = actions(for: subject, look)
        if let check {
            guard actions.contains(check) else {
                throw CommandError(.ineligible, "\(subject.head): \(check.rawValue) is not possible here")
            }
            if json { EventLine.option(OptionFields(subject, look.type, check)).print() }
            return
        }
        guard !actions.isEmpty else {
            throw CommandError(.ineligible, "\(subject.head): nothing can be done with it here")
        }
        if json {
            for action in actions { EventLine.option(OptionFields(subject, look.type, action)).print() }
            return
        }
        if let warning = look.warning { Console.shared.result(warning) }
        Console.shared.result("\(subject.head): \(TerminalText.escaped(look.type.identifier))")
        for (index, action) in actions.enumerated() {
            let padding = String(repeating: " ", count: 16 - action.rawValue.count)
            Console.shared.result("  \(index + 1)  \(action.rawValue)\(padding)\(action.title)")
        }
        guard LineReader.hasTerminal, let action = await choice(actions) else { return }
        try await perform(action, subject, look)
    }

    // MARK: What works

    private func actions(for subject: DocumentSubject, _ look: DocumentLook) -> [DocumentAction] {
        DocumentAction.allCases.filter { action in
            switch action {
            case .preview: look.isShowable
            case .open:
                opening.objection(to: subject, look) == nil && DesktopSession.hasDisplay() && SystemOpener() != nil
            case .openIn:
                opening.objection(to: subject, look) == nil && !OpenInList(subject, look, context).targets.isEmpty
            case .copy: Clipboard().takes(look.copied(subject))
            case .showInFolder: ApplicationChooser.bus != nil
            case .take, .remove: subject.arrival != nil
            }
        }
    }

    private var opening: DocumentOpening { DocumentOpening(registry: previewing.registry) }

    // MARK: Doing it

    /// - Returns: nil for an empty line, for another word, and at the end of the terminal.
    private func choice(_ actions: [DocumentAction]) async -> DocumentAction? {
        guard let line = await answer("Which? [1-\(actions.count)] ") else { return nil }
        if let number = Int(line) { return actions.indices.contains(number - 1) ? actions[number - 1] : nil }
        return actions.first { $0.rawValue == line }
    }

    private func answer(_ question: String) async -> String? {
        Console.shared.prompt(question)
        defer { Console.shared.answered() }
        return await LineReader.terminalLine().flatMap { $0.isEmpty ? nil : $0 }
    }

    private func perform(_ action: DocumentAction, _ subject: DocumentSubject, _ look: DocumentLook) async throws {
        let number = subject.arrival.map { "\($0.number)" } ?? ""
        switch action {
        case .preview: try await previewing.show(subject)
        case .open: try await open(subject)
        case .openIn: try await OpenIn(context).run(subject, app: nil)
        case .copy:
            try await Clipboard().copy(look.copied(subject))
            Console.shared.result("\(subject.head): copied")
        case .showInFolder:
            do throws(BusError) {
                try await FileManagerWindow.show([absolutePath(subject)])
            } catch {
                throw CommandError(
                    .unexpected,
                    "\(subject.head): the file manager does not answer: \(TerminalText.escaped("\(error)"))")
            }
        case .take:
            guard let folder = await answer("To which folder? ") else { return }
            let path = (folder as NSString).expandingTildeInPath
            let command = try InboxTakeCommand.parse(["--", number, path])
            try await command.run()
        case .remove:
            let command = try InboxRemoveCommand.parse([number])
            try await command.run()
        }
    }

    private func open(_ subject: DocumentSubject) async throws {
        if let arrival = subject.arrival {
            let command = try InboxOpenCommand.parse(["\(arrival.number)"])
            return try await command.run()
        }
        guard let opener = SystemOpener(inheritsAll: true) else { return }
        let outcome = await opener.open(try OpenCommand.parts(URL(fileURLWithPath: subject.path).absoluteString))
        let line = "\(subject.head): \(TerminalText.escaped(outcome.reason, limit: 400))"
        guard outcome.answer == .yes else { throw CommandError(.handlerSaidNo, line) }
        Console.shared.result(line)
    }

    private func absolutePath(_ subject: DocumentSubject) -> String {
        URL(fileURLWithPath: subject.path).standardizedFileURL.path
    }
}

/// An action for programs.
struct OptionFields: FieldGroups {
    struct Facts: Encodable {
        var type: String
        var action: DocumentAction
    }

    var subject: EventLine.Subject
    var facts: Facts

    var groups: [any Encodable] { [subject, facts] }

    init(subject: EventLine.Subject, facts: Facts) { (self.subject, self.facts) = (subject, facts) }

    init(_ subject: DocumentSubject, _ type: UniformType, _ action: DocumentAction) {
        self.init(subject: subject.event, facts: Facts(type: type.identifier, action: action))
    }
}
