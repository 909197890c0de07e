package import UniformTypes

/// What a place in the order of claimants was decided by, in the order in which it is asked.
package enum ChoiceStep: String, Hashable, Sendable, CaseIterable {
    case userBinding
    /// The hook of the configuration comes after all that is installed, and what is built in after that.
    case lastResort
    case exactType
    case conformanceSteps
    case rank
    case role
    case installed
    case identifier
}

/// A handler that can open an item, and why it stands where it does among others.
package struct Claim: Hashable, Sendable {
    package let bundle: HandlerBundle
    /// The type by which it opens the item: the item's own, or one that it conforms to.
    package let claimedType: UniformType
    /// How many steps of conformance lead to that type; 0 for the item's own.
    package let steps: Int
    /// The rank that counts.
    package let rank: HandlerRank
    /// What the bundle says: `owner` is lowered where it does not hold.
    package let declaredRank: HandlerRank
    package let role: HandlerRole
    /// The type for which the user made it the default, if that brings it here.
    package let boundType: UniformType?
    /// What put it behind the claim before it; nil for the first.
    package internal(set) var decidedBy: ChoiceStep?
    /// One line for people: by what it opens the item, and what put it where it is.
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

extension UniformType {
    /// What to call it: a type that nobody declares by its tag. May quote a bundle or a name: foreign text.
    package var words: String {
        guard let tag = DynamicType(self)?.tags.first else { return identifier }
        return switch tag.tagClass {
        case .filenameExtension: ".\(tag.value) files"
        default: tag.value
        }
    }
}
