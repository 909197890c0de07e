import ArgumentParser
import HandlerCatalog
import UniformTypes

/// `waft handlers default`.
struct HandlersDefaultCommand: HandlersVerb {
    static let configuration = CommandConfiguration(
        commandName: "default",
        abstract: "Choose the handler that is asked first for a type or a URL scheme.",
        discussion: """
            Example: waft handlers default public.image Photos, or: waft handlers default photo: Photos

            A word that ends with a colon is a scheme; so is one that is no type and that a handler opens. Without arguments, your defaults are listed. Choose the handler Inbox \
            for a type to keep its items in the Inbox.
            """
    )

    @Argument(help: ArgumentHelp("A type, or a scheme with its colon.", valueName: "type|scheme:"))
    var what: String?

    @Argument(help: ArgumentHelp("The handler's name or identifier.", valueName: "handler"), completion: .handlers)
    var name: String?

    @Flag(name: .long, help: "Remove the default.")
    var remove = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if remove, what == nil || name != nil {
            throw ValidationError("--remove needs a type, or a scheme with its colon, and nothing else")
        }
    }

    /// The type or scheme of a default.
    enum Subject: Hashable {
        case type(UniformType)
        case scheme(URLScheme)

        /// As it is typed.
        var text: String {
            switch self {
            case .type(let type): type.identifier
            case .scheme(let scheme): "\(scheme):"
            }
        }
    }

    struct Fields: FieldGroups {
        struct Choice: Encodable {
            /// The identifier of the handler; absent if there is none.
            var handler: String?
            var name: String?
            /// `enabled`, `disabled` or `missing`.
            var state: String?
        }

        var subject: Subject
        var choice: Choice

        var groups: [any Encodable] {
            switch subject {
            case .type(let type): [["type": type.identifier], choice]
            case .scheme(let scheme): [["scheme": scheme.text], choice]
            }
        }
    }

    var isReading: Bool { name == nil && !remove }

    func report(on place: HandlersPlace) throws(CommandError) -> HandlersReport {
        let snapshot = place.catalog.load()
        guard let what else { return all(snapshot) }
        let subject = try CommandError.catching { () throws(CatalogError) in try self.subject(what, snapshot) }
        if remove { return try removed(subject, place.catalog) }
        guard let name else { return HandlersReport(results: [line(subject, snapshot)]) }
        let bundle = try CommandError.catching { () throws(CatalogError) in
            switch subject {
            case .type(let type): try place.catalog.setDefault(name, for: type)
            case .scheme(let scheme): try place.catalog.setDefault(name, for: scheme)
            }
        }
        if output.json { return HandlersReport(results: [line(subject, place.catalog.load())], isChange: true) }
        let text = HandlerText.escaped(subject.text)
        let words =
            bundle.isBuiltIn
            ? "\(text) stays in the Inbox from now on, and no handler is asked"
            : "\(HandlerText.escaped(bundle.name)) is asked first about \(text) from now on"
        return HandlersReport(results: [words], isChange: true)
    }

    private func subject(_ text: String, _ snapshot: CatalogSnapshot) throws(CatalogError) -> Subject {
        if text.hasSuffix(":") { return .scheme(try URLScheme(named: text)) }
        // A default can be removed although no handler declares its type any more.
        if remove, let type = UniformType(text), snapshot.choices.typeDefaults[type] != nil { return .type(type) }
        do {
            return .type(snapshot.registry.resolved(try snapshot.registry.type(named: text)))
        } catch {
            guard let scheme = URLScheme(text),
                snapshot.openedSchemes.contains(scheme) || snapshot.choices.schemeDefaults[scheme] != nil
            else { throw error }
            return .scheme(scheme)
        }
    }

    private func removed(_ subject: Subject, _ catalog: HandlerCatalog) throws(CommandError) -> HandlersReport {
        let was = try CommandError.catching { () throws(CatalogError) in
            switch subject {
            case .type(let type): try catalog.removeDefault(for: type)
            case .scheme(let scheme): try catalog.removeDefault(for: scheme)
            }
        }
        if output.json { return HandlersReport(results: [line(subject, catalog.load())], isChange: was != nil) }
        let text = HandlerText.escaped(subject.text)
        guard let was else { return HandlersReport(results: ["you had no default for \(text)"]) }
        return HandlersReport(results: ["\(was) is no longer your default for \(text)"], isChange: true)
    }

    private func all(_ snapshot: CatalogSnapshot) -> HandlersReport {
        let types = snapshot.choices.typeDefaults.keys.sorted { $0.identifier < $1.identifier }.map(Subject.type)
        let schemes = snapshot.choices.schemeDefaults.keys.sorted().map(Subject.scheme)
        var report = HandlersReport(results: (types + schemes).map { line($0, snapshot) })
        if report.results.isEmpty, !output.json {
            report.notes.append("you have no defaults; set one with: waft handlers default TYPE NAME")
        }
        return report
    }

    private func line(_ subject: Subject, _ snapshot: CatalogSnapshot) -> String {
        let identifier =
            switch subject {
            case .type(let type): snapshot.choices.typeDefaults[type]
            case .scheme(let scheme): snapshot.choices.schemeDefaults[scheme]
            }
        let bundle = identifier.flatMap(snapshot.bundle)
        var choice = Fields.Choice(handler: identifier?.text, name: bundle?.name)
        if identifier != nil {
            choice.state = bundle.map { snapshot.isEnabled($0) ? "enabled" : "disabled" } ?? "missing"
        }
        if output.json { return EventLine.default(Fields(subject: subject, choice: choice)).text }
        let text = HandlerText.escaped(subject.text)
        guard let identifier else { return "\(text)  no default" }
        let name = bundle.map { "\(HandlerText.escaped($0.name)) (\(identifier))" } ?? identifier.text
        let state =
            switch choice.state {
            case "disabled": ", which is disabled"
            case "missing": ", which is not installed"
            default: ""
            }
        return "\(text)  \(name)\(state)"
    }
}
