package import UniformTypes

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
