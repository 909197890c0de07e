package import UniformTypes

extension CatalogSnapshot {
    /// The handlers that can open items of a type, in the order in which they are asked. The order is deterministic:
    ///
    /// 1. the user's default for the type, then for the nearest type that it conforms to;
    /// 2. installed handlers, then the hook of the configuration, then built-in handlers;
    /// 3. claims to the type itself, then claims to a supertype, fewest steps of conformance first;
    /// 4. rank: Owner, Default, Alternate; None is never chosen;
    /// 5. role: the requested one, then Editor, Viewer, Shell; the others open nothing;
    /// 6. time of installation, earliest first, then the identifier.
    ///
    /// The supertypes of a type depend on whether the item is a file or a folder: see `TypeRegistry.reach`.
    /// - Parameters:
    ///   - kind: whether the item is a file or a folder, if known.
    ///   - role: the preferred role, if any; handlers in other roles are not left out.
    package func claimants(of type: UniformType, kind: FileKind? = nil, role: HandlerRole? = nil) -> [Claim] {
        let type = registry.resolved(type)
        let reach = registry.reach(of: type, kind: kind)
        let bound = boundHandlers(reach)
        var best: [BundleIdentifier: Candidate] = [:]
        for (supertype, steps) in reach {
            for claim in claims.naming(supertype) where claim.counts {
                let place = bound.firstIndex { $0.identifier == claim.bundle.identifier }
                let candidate = Candidate(claim: claim, steps: steps, bound: place, wanted: role)
                if let other = best[claim.bundle.identifier], other.comesBefore(candidate) { continue }
                best[claim.bundle.identifier] = candidate
            }
        }
        var candidates = Array(best.values)
        if let hook { candidates.append(lastResort(hook, reach, bound)) }
        if rule == .everything { candidates.append(lastResort(.inbox, reach, bound)) }
        candidates.sort { $0.comesBefore($1) }
        return explained(candidates, bound.map(\.type))
    }

    /// Handlers that could open the item except for one reason, with that reason, also for people.
    package func passedOver(
        _ type: UniformType,
        kind: FileKind? = nil
    ) -> [(bundle: HandlerBundle, obstacle: ChoiceObstacle, reason: String)] {
        let chosen = Set(claimants(of: type, kind: kind).map(\.bundle.identifier))
        var reasons: [BundleIdentifier: (bundle: HandlerBundle, obstacle: ChoiceObstacle, reason: String)] = [:]
        for (supertype, _) in registry.reach(of: registry.resolved(type), kind: kind) {
            for claim in claims.naming(supertype) where reasons[claim.bundle.identifier] == nil {
                guard !chosen.contains(claim.bundle.identifier) else { continue }
                let (obstacle, reason): (ChoiceObstacle, String) =
                    if !claim.isEnabled {
                        (.disabled, "it is disabled")
                    } else if claim.rank == .none {
                        (.rank, "its rank for \(claim.type.words) is None: it is never chosen")
                    } else {
                        (.role, "its role for \(claim.type.words) is \(claim.role.rawValue): it does not open them")
                    }
                reasons[claim.bundle.identifier] = (claim.bundle, obstacle, reason)
            }
        }
        return reasons.values.sorted { $0.bundle.identifier < $1.bundle.identifier }
    }

    /// The handlers that the user chose, for the nearest type first.
    private func boundHandlers(
        _ reach: [(type: UniformType, steps: Int)]
    ) -> [(type: UniformType, identifier: BundleIdentifier)] {
        guard !choices.typeDefaults.isEmpty else { return [] }
        return reach.compactMap { type, _ in choices.typeDefaults[type].map { (type, $0) } }
    }

    /// A handler that opens everything, after all installed ones. The user can set the Inbox as the default for some
    /// types; then it comes before all others.
    private func lastResort(
        _ bundle: HandlerBundle,
        _ reach: [(type: UniformType, steps: Int)],
        _ bound: [(type: UniformType, identifier: BundleIdentifier)]
    ) -> Candidate {
        let claim = TypeClaim(
            bundle: bundle,
            isEnabled: true,
            type: .item,
            declaredRank: .alternate,
            rank: .alternate,
            role: .viewer
        )
        return Candidate(
            claim: claim,
            steps: reach.first { $0.type == .item }?.steps ?? 0,
            bound: bundle.isBuiltIn ? bound.firstIndex { $0.identifier == bundle.identifier } : nil,
            wanted: nil
        )
    }

    private func explained(_ candidates: [Candidate], _ boundTypes: [UniformType]) -> [Claim] {
        var result: [Claim] = []
        var previous: Candidate?
        for candidate in candidates {
            let boundType = candidate.bound.map { boundTypes[$0] }
            var claim = Claim(
                bundle: candidate.claim.bundle,
                claimedType: candidate.claim.type,
                steps: candidate.steps,
                rank: candidate.claim.rank,
                declaredRank: candidate.claim.declaredRank,
                role: candidate.claim.role,
                boundType: boundType,
                decidedBy: previous.map { $0.difference(from: candidate) },
                explanation: ""
            )
            claim.explanation = claim.standing
            if let boundType { claim.explanation = "your default for \(boundType.words); " + claim.explanation }
            if let previous, let step = claim.decidedBy, !claim.bundle.isBuiltIn {
                claim.explanation += "; behind \(previous.claim.bundle.name), " + previous.advantage(step)
            }
            result.append(claim)
            previous = candidate
        }
        return result
    }
}

/// A claim with all facts that decide its position.
private struct Candidate {
    let claim: TypeClaim
    let steps: Int
    /// The steps to the type for which the user chose the handler; 0 is nearest.
    let bound: Int?
    let wanted: HandlerRole?

    func comesBefore(_ other: Candidate) -> Bool {
        switch difference(from: other) {
        case .userBinding: return (bound ?? .max) < (other.bound ?? .max)
        case .lastResort: return claim.bundle.resort < other.claim.bundle.resort
        case .exactType, .conformanceSteps: return steps < other.steps
        case .rank: return claim.rank < other.claim.rank
        case .role: return rolePlace < other.rolePlace
        case .installed, .identifier: return HandlerBundle.isInstalledBefore(claim.bundle, other.claim.bundle)
        }
    }

    /// The first rule that decides between the two.
    func difference(from other: Candidate) -> ChoiceStep {
        if bound != other.bound { return .userBinding }
        if claim.bundle.resort != other.claim.bundle.resort { return .lastResort }
        if steps != other.steps { return steps == 0 || other.steps == 0 ? .exactType : .conformanceSteps }
        if claim.rank != other.claim.rank { return .rank }
        if rolePlace != other.rolePlace { return .role }
        return claim.bundle.installed == other.claim.bundle.installed ? .identifier : .installed
    }

    private var rolePlace: Int { claim.role == wanted ? -1 : claim.role.order }

    /// Why this candidate comes before another, as a phrase after a comma.
    func advantage(_ step: ChoiceStep) -> String {
        switch step {
        case .userBinding: "which is your default"
        case .lastResort: "which is installed"
        case .exactType: "which opens the type itself"
        case .conformanceSteps: "which is fewer steps away"
        case .rank: "whose rank is \(claim.rank.rawValue)"
        case .role: "whose role is \(claim.role.rawValue)"
        case .installed: "which was installed first"
        case .identifier: "whose identifier comes first"
        }
    }
}

/// The rules that decide the order of claimants, in the order in which they apply.
package enum ChoiceStep: String, Hashable, Sendable, CaseIterable {
    case userBinding
    /// The hook of the configuration comes after all installed handlers, and built-in handlers come after the hook.
    case lastResort
    case exactType
    case conformanceSteps
    case rank
    case role
    case installed
    case identifier
}

/// The reason why a handler is not asked for something that it claims.
package enum ChoiceObstacle: String, Hashable, Sendable {
    case disabled
    /// Its rank is None.
    case rank
    /// Its role opens nothing.
    case role
}

/// A handler that can open an item, with the reasons for its position among others.
package struct Claim: Hashable, Sendable {
    package let bundle: HandlerBundle
    /// The claimed type that covers the item: the item's own type, or one that it conforms to.
    package let claimedType: UniformType
    /// How many steps of conformance lead to that type; 0 for the item's own.
    package let steps: Int
    /// The rank that the order uses.
    package let rank: HandlerRank
    /// The rank in the bundle. `rank` is lower if the bundle's claim to be the owner does not hold.
    package let declaredRank: HandlerRank
    package let role: HandlerRole
    /// The type for which the user made it the default, if that decides its position.
    package let boundType: UniformType?
    /// The rule that put it behind the claim before it; nil for the first.
    package internal(set) var decidedBy: ChoiceStep?
    /// One line for people: the claim that covers the item, and the reason for its position.
    package internal(set) var explanation: String

    var standing: String {
        switch bundle.origin {
        case .builtIn: return "takes everything else, and keeps it in the Inbox"
        case .configuration: return "gets items that no installed handler opens"
        case .user, .machine, .distribution: break
        }
        let what =
            switch steps {
            case 0: "opens \(claimedType.words) itself"
            case 1: "opens \(claimedType.words), 1 step up"
            default: "opens \(claimedType.words), \(steps) steps up"
            }
        let lowered =
            rank == declaredRank ? "" : " (it says \(declaredRank.rawValue), but does not export \(claimedType))"
        return "\(what); rank \(rank.rawValue)\(lowered), role \(role.rawValue)"
    }
}
