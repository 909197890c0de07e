import Foundation
import HandlerCatalog
import Handlers
import Sharing
import UniformTypes

/// Text about handlers, for people and for programs. Text from bundles is foreign: all lines are escaped.
struct HandlerText {
    let snapshot: CatalogSnapshot
    let place: HandlersPlace
    /// Problems of handlers that are used, by the path that has the problem.
    private let warnings: [String: [HandlerProblem]]
    /// Other problems: bundles that cannot be used, folders, the user's choices.
    let loose: [HandlerProblem]
    private let typeDefaults: [BundleIdentifier: [UniformType]]
    private let schemeDefaults: [BundleIdentifier: [URLScheme]]

    /// Longest path that is shown whole.
    private static let pathLimit = 4_096
    /// Types that are named in a line.
    private static let namedTypes = 8

    /// Reads the handlers.
    init(_ place: HandlersPlace) {
        self.init(place.catalog.load(), place)
    }

    init(_ snapshot: CatalogSnapshot, _ place: HandlersPlace) {
        self.snapshot = snapshot
        self.place = place
        let used = Set(snapshot.handlers.map(Self.troublePath))
        let isOfUsed = { (problem: HandlerProblem) in problem.severity == .warning && used.contains(problem.path) }
        warnings = Dictionary(grouping: snapshot.problems.filter(isOfUsed), by: \.path)
        loose = snapshot.problems.filter { !isOfUsed($0) }
        let choices = snapshot.choices
        typeDefaults = Dictionary(grouping: choices.typeDefaults.keys) { choices.typeDefaults[$0] ?? .inbox }
            .mapValues { $0.sorted { $0.identifier < $1.identifier } }
        schemeDefaults = Dictionary(grouping: choices.schemeDefaults.keys) { choices.schemeDefaults[$0] ?? .inbox }
            .mapValues { $0.sorted() }
    }

    /// The path under which the problems of a handler are listed.
    private static func troublePath(_ bundle: HandlerBundle) -> String {
        bundle.origin == .configuration ? bundle.executable ?? "" : bundle.path
    }

    static func escaped(_ text: String) -> String { TerminalText.escaped(text) }

    /// A handler's name in the user's language.
    static func name(_ bundle: HandlerBundle) -> String { escaped(bundle.shownName) }

    static func path(_ path: String) -> String { TerminalText.escaped(path, limit: pathLimit) }

    // MARK: Facts

    func isEnabled(_ bundle: HandlerBundle) -> Bool {
        bundle.isBuiltIn ? snapshot.rule == .everything : snapshot.isEnabled(bundle)
    }

    func typesDefault(of bundle: HandlerBundle) -> [UniformType] { typeDefaults[bundle.identifier] ?? [] }

    func schemesDefault(of bundle: HandlerBundle) -> [URLScheme] { schemeDefaults[bundle.identifier] ?? [] }

    func permissions(of bundle: HandlerBundle) -> HandlerPermissions? { HandlerPermissions(bundle, place.support) }

    /// Problems of a handler that is used, a line each, escaped: those that the catalog found, and those that prevent
    /// its start.
    func troubles(_ bundle: HandlerBundle) -> [String] {
        let found = warnings[Self.troublePath(bundle)] ?? []
        return found.map { TerminalText.escaped($0.reason, limit: 400) } + launchTroubles(bundle)
    }

    private func launchTroubles(_ bundle: HandlerBundle) -> [String] {
        let program = HandlerProgram(
            bundle: bundle, defaultTimeLimit: place.usualTimeLimit, requiresSandbox: false)
        return (program?.pathFlaws ?? []).map { "it cannot start: \(TerminalText.escaped($0, limit: Self.pathLimit))" }
    }

    /// The claims to types that make it one that can be chosen, each type once.
    func openedTypes(_ bundle: HandlerBundle) -> [UniformType] {
        var seen: Set<UniformType> = []
        return bundle.documentTypes.filter { $0.rank != .none && $0.role.opens }
            .flatMap { $0.types(in: snapshot.registry) }.filter { seen.insert($0).inserted }
    }

    func openedSchemes(_ bundle: HandlerBundle) -> [URLScheme] {
        Set(bundle.urlTypes.filter(\.role.opens).flatMap(\.schemes)).sorted()
    }

    // MARK: A few lines

    /// A handler as it stands in the list.
    func block(_ bundle: HandlerBundle) -> [String] {
        [
            "\(Self.name(bundle))  \(bundle.identifier)  \(isEnabled(bundle) ? "enabled" : "disabled")",
            "  opens  \(opens(bundle))",
            "  from   \(source(bundle))",
        ] + defaults(bundle).map { "  default for \($0)" } + troubles(bundle).map { "  warning: \($0)" }
    }

    /// The types and schemes for which the user chose it, in one text; empty for none.
    private func defaults(_ bundle: HandlerBundle) -> [String] {
        let all = typesDefault(of: bundle).map(\.identifier) + schemesDefault(of: bundle).map { "\($0):" }
        guard !all.isEmpty else { return [] }
        let more = all.count > Self.namedTypes ? " and \(all.count - Self.namedTypes) more" : ""
        return [all.prefix(Self.namedTypes).joined(separator: ", ") + more]
    }

    func opens(_ bundle: HandlerBundle) -> String {
        switch bundle.origin {
        case .builtIn:
            return isEnabled(bundle)
                ? "everything else: it keeps it in the Inbox" : "nothing: eligibility: handlers is set"
        case .configuration: return "items that no installed handler opens"
        case .user, .machine, .distribution: break
        }
        let types = openedTypes(bundle).map { Self.escaped($0.words) }
        let schemes = openedSchemes(bundle).map { "\($0): URLs" }
        let all = types + schemes
        guard !all.isEmpty else { return "nothing" }
        let more = all.count > Self.namedTypes ? " and \(all.count - Self.namedTypes) more" : ""
        return all.prefix(Self.namedTypes).joined(separator: ", ") + more
    }

    private func source(_ bundle: HandlerBundle) -> String {
        switch bundle.origin {
        case .user: "\(Self.path(bundle.path)) (yours)"
        case .machine: "\(Self.path(bundle.path)) (this machine's)"
        case .distribution: "\(Self.path(bundle.path)) (of a package)"
        case .configuration: "hook: in the configuration, \(Self.path(bundle.executable ?? ""))"
        case .builtIn: "built in"
        }
    }

    /// Something that is wrong.
    func block(_ problem: HandlerProblem) -> [String] {
        let identifier = problem.identifier.map { "  \($0)" } ?? ""
        let state = problem.severity == .unusable ? "cannot be used" : "warning"
        return [
            "\(Self.escaped(problem.name))\(identifier)  \(state)",
            "  why    \(TerminalText.escaped(problem.reason, limit: 400))",
            "  from   \(Self.path(problem.path))",
            "  to do  \(remedy(problem))",
        ]
    }

    /// Advice about a problem.
    func remedy(_ problem: HandlerProblem) -> String {
        let folders = place.catalog.folders
        if problem.identifier == .hook, problem.path == place.catalog.hook?.path {
            return "fix it, or change hook: in the configuration"
        }
        if problem.path == place.catalog.choicesPath { return "see your choices with: waft handlers default" }
        if PathText.part(of: problem.path, below: folders.user) != nil {
            guard problem.severity == .unusable else { return "fix it" }
            // A name that cannot be shown cannot be typed either.
            guard Self.escaped(problem.name) == problem.name else { return "fix it, or delete its folder" }
            return
                "fix it, or remove it: waft handlers remove \(TerminalText.shellWord(problem.name, limit: Self.pathLimit))"
        }
        if problem.path == folders.user { return "fix it" }
        return "ask the administrator of this machine to fix it"
    }
}
