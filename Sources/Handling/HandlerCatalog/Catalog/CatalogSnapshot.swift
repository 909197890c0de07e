package import UniformTypes

/// Which types can be offered to this peer.
package enum EligibilityRule: String, Hashable, Sendable, CaseIterable {
    /// Every type: what no handler opens stays in the Inbox.
    case everything
    /// Only those that some handler opens.
    case handlers
}

/// The handlers as they were at one moment: who they are, what they open, what is wrong with them.
///
/// A value: it can be handed to any number of tasks, and asked without waiting for anybody.
package struct CatalogSnapshot: Sendable {
    /// The usable bundles, disabled ones too, the hook and what is built in not among them: in the order of their names.
    package let bundles: [HandlerBundle]

    /// The hook of the configuration, where there is one that can be used.
    package let hook: HandlerBundle?

    /// What is wrong, in the order of the paths; the unusable bundles are only here.
    package let problems: [HandlerProblem]

    /// The system's types, and those that bundles in use declare.
    package let registry: TypeRegistry

    package let choices: UserChoices

    package let rule: EligibilityRule

    /// What the bundles claim, and the handler that takes the rest.
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

    /// Whether the user did not disable it; only what is installed can be.
    package func isEnabled(_ bundle: HandlerBundle) -> Bool {
        bundle.resort > 0 || !choices.disabled.contains(bundle.identifier)
    }

    /// The usable bundle with an identifier, the hook and what is built in too.
    package func bundle(_ identifier: BundleIdentifier) -> HandlerBundle? {
        switch identifier {
        case .inbox: .inbox
        case .hook: hook
        default: bundles.first { $0.identifier == identifier }
        }
    }

    /// All handlers, in the order in which they are listed: the hook and what is built in last.
    package var handlers: [HandlerBundle] { bundles + [hook, .inbox].compactMap(\.self) }

    /// Whether it says the same as another, so that nobody need hear of it.
    func isSame(as other: CatalogSnapshot) -> Bool {
        bundles == other.bundles && hook == other.hook && problems == other.problems && choices == other.choices
            && rule == other.rule
    }

    /// Of bundles with one identifier the user's own goes first, then this machine's, then that of a package; of two in
    /// one place the one installed first.
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
