import HandlerCatalog
import Handlers
import HookSandbox
import Lines
import Sharing
import SystemCalls
import UniformTypes

/// The handlers at one moment, from which their lines are made.
struct HandlerView {
    let snapshot: CatalogSnapshot
    private let owner: InstalledHandlers
    /// Problems of handlers that are used, by the path that has the problem.
    private let warnings: [String: [HandlerProblem]]
    /// Other problems: bundles that cannot be used, folders, the user's choices.
    let loose: [HandlerProblem]
    private let typeDefaults: [BundleIdentifier: [UniformType]]
    private let schemeDefaults: [BundleIdentifier: [URLScheme]]

    /// Longest path that is shown whole.
    private static let pathLimit = 4_096
    /// Seconds; about the years that a line can show.
    private static let longestTime: Int64 = 253_000_000_000

    init(_ snapshot: CatalogSnapshot, _ owner: InstalledHandlers) {
        (self.snapshot, self.owner) = (snapshot, owner)
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

    func line(_ bundle: HandlerBundle) -> HandlerLine {
        var line = HandlerLine(
            name: bundle.name, identifier: bundle.identifier.text, origin: Self.origin(bundle.origin),
            enabled: bundle.isBuiltIn ? snapshot.rule == .everything : snapshot.isEnabled(bundle))
        line.localizedName = bundle.localizedName
        line.path = bundle.path.isEmpty ? nil : bundle.path
        line.version = bundle.version.isEmpty ? nil : bundle.version
        (line.dataFolder, line.executable) = (bundle.dataFolder, bundle.executable)
        // A disk can say any number.
        let seconds = min(max(bundle.installed.seconds, -Self.longestTime), Self.longestTime)
        line.installed = seconds == 0 ? nil : LineTime(milliseconds: seconds * 1_000)
        line.documentTypes = bundle.documentTypes.flatMap { claim in
            claim.types(in: snapshot.registry).map { type in
                HandlerLine.TypeClaim(
                    type: type.identifier, name: claim.name, localizedName: bundle.localized(claim.name),
                    rank: claim.rank.rawValue, role: claim.role.rawValue, opens: claim.rank != .none && claim.role.opens
                )
            }
        }
        line.urlTypes = bundle.urlTypes.flatMap { claim in
            claim.schemes.map { scheme in
                HandlerLine.SchemeClaim(
                    scheme: scheme.text, name: claim.name, localizedName: bundle.localized(claim.name),
                    role: claim.role.rawValue, opens: claim.role.opens)
            }
        }
        let activities = bundle.activities.map { activity in
            HandlerLine.Activity(
                type: activity.type, title: bundle.localized(activity.title) ?? activity.title,
                category: activity.category.rawValue, itemTypes: activity.itemTypes.map(\.identifier),
                maximumItems: activity.maximumItems)
        }
        line.activities = activities.isEmpty ? nil : activities
        line.defaultTypes = (typeDefaults[bundle.identifier] ?? []).map(\.identifier)
        line.defaultSchemes = (schemeDefaults[bundle.identifier] ?? []).map(\.text)
        if bundle.executable != nil {
            let rules = bundle.launch
            (line.launch, line.launchCalls) = (rules.mode.rawValue, rules.callWords)
            line.notices = LaunchRules.Notice.allCases.filter(rules.notices.contains).map(\.rawValue)
            (line.streams, line.sandbox) = (rules.takesStreams ? true : nil, rules.sandbox.rawValue)
            line.permissions = permissions(bundle)
            (line.readable, line.writable) = (rules.readablePaths, rules.writablePaths)
            line.timeLimit = (rules.timeout ?? owner.usualTimeLimit).inSeconds
            line.hasUsualTimeLimit = rules.timeout == nil
        }
        (line.exports, line.imports) = (bundle.exportedTypes.map(Self.line), bundle.importedTypes.map(Self.line))
        let program = HandlerProgram(
            bundle: bundle, defaultTimeLimit: owner.usualTimeLimit, requiresSandbox: false)
        let flaws = program?.pathFlaws ?? []
        line.warnings = (warnings[Self.troublePath(bundle)] ?? []).map { ShownText.line($0.reason, limit: 400) }
        line.warnings += flaws.map { "it cannot start: \(ShownText.line($0, limit: Self.pathLimit))" }
        line.cannotStart = flaws.isEmpty ? nil : true
        return line
    }

    private static func line(_ declaration: TypeDeclaration) -> HandlerLine.Declaration {
        HandlerLine.Declaration(
            type: declaration.type.identifier, description: declaration.description,
            conformsTo: declaration.parents.map(\.identifier), extensions: declaration.extensions,
            mimeTypes: declaration.mimeTypes)
    }

    private static func origin(_ origin: HandlerOrigin) -> HandlerLine.Origin {
        switch origin {
        case .user: .user
        case .machine: .machine
        case .distribution: .distribution
        case .configuration: .configuration
        case .builtIn: .builtIn
        }
    }

    /// - Returns: nil for a handler without a sandbox, and for a built-in one.
    func permissions(_ bundle: HandlerBundle) -> HandlerPermissions? {
        let rules = bundle.launch
        guard bundle.executable != nil, rules.sandbox == .strict else { return nil }
        return HandlerPermissions(
            reads: rules.readablePaths, dataFolder: bundle.dataFolder, writes: rules.writablePaths,
            network: rules.allowsNetwork, sockets: rules.allowsSockets, environment: rules.environment,
            kernel: owner.support.description)
    }

    func line(_ problem: HandlerProblem) -> HandlerProblemLine {
        HandlerProblemLine(
            severity: problem.severity == .unusable ? .unusable : .warning, name: problem.name,
            identifier: problem.identifier?.text, path: problem.path, reason: problem.reason, hint: remedy(problem))
    }

    private func remedy(_ problem: HandlerProblem) -> String {
        let catalog = owner.catalog
        if problem.identifier == .hook, problem.path == catalog.hook?.path {
            return "fix it, or change hook: in the configuration"
        }
        if problem.path == catalog.choicesPath { return "see your choices with: waft handlers default" }
        if PathText.part(of: problem.path, below: catalog.folders.user) != nil {
            guard problem.severity == .unusable else { return "fix it" }
            // A name that cannot be shown cannot be typed either.
            guard ShownText.line(problem.name, limit: 200) == problem.name else {
                return "fix it, or delete its folder"
            }
            let word = ShellWord.quoted(ShownText.line(problem.name, limit: Self.pathLimit))
            return "fix it, or remove it: waft handlers remove \(word)"
        }
        if problem.path == catalog.folders.user { return "fix it" }
        return "ask the administrator of this machine to fix it"
    }
}

extension Duration {
    fileprivate var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}
