package import UniformTypes

/// Which types can be offered to this peer.
package enum EligibilityRule: String, Hashable, Sendable, CaseIterable {
    /// Every type: items that no handler opens stay in the Inbox.
    case everything
    /// Only types that a handler opens.
    case handlers
}

/// The handlers at one moment: their identity, the types and schemes that they open, and their problems.
///
/// A value: any number of tasks can use it without waiting.
package struct CatalogSnapshot: Sendable {
    /// The usable bundles, including disabled ones, sorted by name. The hook and built-in handlers are not in it.
    package let bundles: [HandlerBundle]

    /// The hook of the configuration, if there is one that can be used.
    package let hook: HandlerBundle?

    /// The problems, sorted by path; unusable bundles are only here.
    package let problems: [HandlerProblem]

    /// The system's types, and the types that bundles in use declare.
    package let registry: TypeRegistry

    package let choices: UserChoices

    package let rule: EligibilityRule

    /// The claims of the bundles, and the handler that opens all other types.
    let claims: TypeClaims

    package init(
        bundles: [HandlerBundle],
        problems: [HandlerProblem] = [],
        choices: UserChoices = UserChoices(),
        rule: EligibilityRule = .everything,
        hook: HandlerBundle? = nil
    ) {
        var problems = problems
        let bundles = Self.withoutDuplicates(bundles, &problems).sorted { left, right in
            let names = (left.name.lowercased(), right.name.lowercased())
            return names.0 == names.1 ? left.identifier < right.identifier : names.0 < names.1
        }
        let enabled = bundles.filter { !choices.disabled.contains($0.identifier) }
        let declared = DeclaredTypes(enabled.sorted(by: HandlerBundle.isInstalledBefore))
        problems += declared.problems
        claims = TypeClaims(bundles, choices: choices, declared: declared)
        registry = declared.registry
        self.bundles = bundles
        self.problems = problems.sorted { ($0.path, $0.severity.rawValue) < ($1.path, $1.severity.rawValue) }
        self.choices = choices
        self.rule = rule
        self.hook = hook
    }

    /// Whether the user has not disabled the handler; only installed handlers can be disabled.
    package func isEnabled(_ bundle: HandlerBundle) -> Bool {
        bundle.resort > 0 || !choices.disabled.contains(bundle.identifier)
    }

    /// The usable handler with this identifier, including the hook and built-in handlers.
    package func bundle(_ identifier: BundleIdentifier) -> HandlerBundle? {
        switch identifier {
        case .inbox: .inbox
        case .hook: hook
        default: bundles.first { $0.identifier == identifier }
        }
    }

    /// All handlers, in the order in which they are listed: the hook and built-in handlers come last.
    package var handlers: [HandlerBundle] { bundles + [hook, .inbox].compactMap(\.self) }

    /// Whether the other snapshot has the same contents, so that it need not be published.
    func isSame(as other: CatalogSnapshot) -> Bool {
        bundles == other.bundles && hook == other.hook && problems == other.problems && choices == other.choices
            && rule == other.rule
    }

    /// Of bundles with one identifier the user's own takes precedence, then this machine's, then that of a package. Of
    /// two in one place the one installed first does.
    private static func withoutDuplicates(
        _ bundles: [HandlerBundle],
        _ problems: inout [HandlerProblem]
    ) -> [HandlerBundle] {
        var kept: [BundleIdentifier: HandlerBundle] = [:]
        let ordered = bundles.sorted { left, right in
            if left.origin != right.origin { return left.origin < right.origin }
            if left.installed == right.installed { return left.path < right.path }
            return HandlerBundle.isInstalledBefore(left, right)
        }
        for bundle in ordered {
            guard let first = kept[bundle.identifier] else {
                kept[bundle.identifier] = bundle
                continue
            }
            let why = first.origin == bundle.origin ? "was installed first" : "is in a folder that is searched first"
            problems.append(
                HandlerProblem(
                    path: bundle.path,
                    name: bundle.folderName,
                    identifier: bundle.identifier,
                    severity: .unusable,
                    reason: "\(first.path) has the same identifier \(first.identifier), and \(why)"
                )
            )
        }
        return Array(kept.values)
    }
}
