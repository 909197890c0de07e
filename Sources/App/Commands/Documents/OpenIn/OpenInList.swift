import ContentCheck
import Desktop
import HandlerCatalog
import Handlers
import Lines
import Settings
import Sharing
import UniformTypes

/// The programs that can get a document: the handlers first, then the applications.
struct OpenInList {
    let subject: DocumentSubject
    /// The type of the document. The programs open this type.
    let type: UniformType
    let targets: [OpenInTarget]
    /// Applications that would open it, but have no display or no terminal here.
    let absent: [Application]
    /// Whether the applications of the desktop could be looked up.
    let knowsApplications: Bool

    /// - Parameter look: at the document.
    init(_ subject: DocumentSubject, _ look: DocumentLook, _ context: CommandContext) {
        (self.subject, type) = (subject, look.type)
        let registry = context.home.typeRegistry()
        // Another type is harmless, unless it lies: then the content alone counts.
        let types = look.isLying || look.type == subject.declared ? [look.type] : [look.type, subject.declared]
        let kind: FileKind = subject.isFolder ? .directory : .regularFile
        let found = Application.all(for: registry.mimeTypes(of: types, kind: kind))
        let (hasDisplay, hasTerminal) = (DesktopSession.hasDisplay(), LineReader.isTerminal)
        let isHere = { (application: Application) in application.runsInTerminal ? hasTerminal : hasDisplay }
        let applications = found ?? []
        targets =
            Self.handlers(subject, look, context) + applications.filter(isHere).map(OpenInTarget.application)
        absent = applications.filter { !isHere($0) }
        knowsApplications = found != nil
    }

    /// The type that a handler gets for a file outside the Inbox: that of its name, if it has one.
    var calledType: UniformType { subject.declared.isDynamic ? type : subject.declared }

    /// The handlers that would get the item, in the order in which they are asked. A file outside the Inbox has the type of its
    /// name or, if that has none, of its content.
    private static func handlers(
        _ subject: DocumentSubject, _ look: DocumentLook, _ context: CommandContext
    ) -> [OpenInTarget] {
        guard !look.isLying, subject.arrival?.content?.outcome != .lying else { return [] }
        let snapshot = HandlersPlace(context).catalog.load()
        func handlers(_ type: UniformType, _ kind: FileKind?) -> [OpenInTarget] {
            snapshot.claimants(of: type, kind: kind)
                .filter { $0.bundle.origin < .configuration && snapshot.isEnabled($0.bundle) }
                .map { .handler($0.bundle, opens: $0.claimedType) }
        }
        if let arrival = subject.arrival { return handlers(arrival.type, arrival.item.kind.fileKind) }
        let kind: FileKind = subject.isFolder ? .directory : .regularFile
        return handlers(subject.declared.isDynamic ? look.type : subject.declared, kind)
    }

    /// - Parameter word: a number of the list, a name, a desktop id or the identifier of a bundle.
    /// - Throws: `CommandError`: `ineligible` for an application that cannot start here, `usage` for an unknown word.
    func target(_ word: String) throws(CommandError) -> OpenInTarget {
        if let number = Int(word), targets.indices.contains(number - 1) { return targets[number - 1] }
        if let target = targets.first(where: { $0.isNamed(word) }) { return target }
        if let application = absent.first(where: { OpenInTarget.application($0).isNamed(word) }) {
            let name = TerminalText.escaped(application.name)
            throw CommandError(
                .ineligible,
                application.runsInTerminal
                    ? "\(subject.head): \(name) needs a terminal"
                    : "\(subject.head): \(name) needs a desktop: DISPLAY and WAYLAND_DISPLAY are not set")
        }
        let names = targets.prefix(20).map { TerminalText.escaped($0.name) }.joined(separator: ", ")
        let things = subject.isFolder ? "folders" : TerminalText.escaped(type.identifier)
        throw CommandError(
            .usage, "\(subject.head): \(TerminalText.escaped(word)) does not open \(things)",
            hint: names.isEmpty ? nil : "programs that do: \(names)")
    }

    /// Lines for people, escaped.
    var lines: [String] {
        let names = targets.map { TerminalText.escaped($0.name, limit: 40) }
        let width = max(14, (names.map(\.columns).max() ?? 0) + 2)
        let name = subject.arrival?.stored.name.text ?? subject.path
        return ["\(TerminalText.escaped(name, limit: 1_000))  \(TerminalText.escaped(type.identifier))"]
            + zip(targets, names).enumerated().map { index, row in
                "  \(index + 1)  \(row.1.padded(to: width))\(row.0.words)"
            }
    }

    /// The applications among the programs; the default first.
    var applications: [Application] {
        targets.compactMap { if case .application(let application) = $0 { application } else { nil } }
    }

    /// The failure for an empty list.
    var nothing: CommandError {
        let hint: String? =
            if !knowsApplications {
                "the applications of the desktop are found by libgio-2.0; install libglib2.0-0"
            } else if let first = absent.first {
                "\(TerminalText.escaped(first.name)) needs a \(first.runsInTerminal ? "terminal" : "desktop")"
            } else {
                nil
            }
        return CommandError(
            .ineligible, "\(subject.head): nothing here opens \(TerminalText.escaped(type.identifier))", hint: hint)
    }
}
