package import UniformTypes

/// Whether an item can be offered to this peer.
package enum Eligibility: Hashable, Sendable {
    case eligible
    /// One line for the sender, in lower case: the types that this peer opens instead.
    case ineligible(String)

    package var isEligible: Bool { self == .eligible }
}

extension CatalogSnapshot {
    /// Maximum number of types that a refusal names.
    private static let namedTypes = 5

    /// Whether items of a type are accepted under the rule of this catalog.
    /// - Parameter kind: whether the item is a file or a folder, if known.
    package func eligibility(of type: UniformType, kind: FileKind? = nil) -> Eligibility {
        if rule == .everything || !claimants(of: type, kind: kind).isEmpty { return .eligible }
        let types = claims.openedTypes.map(\.words)
        let opened =
            switch types.count {
            case 0: "none is installed"
            case 1: "it opens \(types[0])"
            case ...Self.namedTypes:
                "it opens \(types.dropLast().joined(separator: ", ")) and \(types[types.count - 1])"
            default:
                "it opens \(types.prefix(Self.namedTypes).joined(separator: ", ")) "
                    + "and \(types.count - Self.namedTypes) more"
            }
        return .ineligible("no handler here opens \(type.words); \(opened)")
    }
}
