import ContentCheck
package import Sharing
package import UniformTypes

/// Items that a desktop may run instead of opening them: programs, scripts and launchers.
package enum RunByOpening {
    /// - Parameter types: the types that are known here.
    package static func includes(_ arrival: Arrival, _ types: TypeRegistry) -> Bool {
        let own = [arrival.item.type, arrival.content?.contentType].compactMap(\.self)
        return own.contains { type in kinds.contains { types.conforms(type, to: $0) } }
            || arrival.stored.name.text.lowercased().hasSuffix(".desktop")
    }

    private static let kinds = [UniformType.executable, .script]
}
