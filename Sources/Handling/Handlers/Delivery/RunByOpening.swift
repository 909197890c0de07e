import ContentCheck
package import Sharing
package import UniformTypes

/// Items that a desktop may run instead of opening them: programs, scripts and launchers.
package enum RunByOpening {
    /// - Parameter types: the types that are known here.
    package static func includes(_ arrival: Arrival, _ types: TypeRegistry) -> Bool {
        let own = [arrival.item.type, arrival.content?.contentType].compactMap(\.self)
        return includes(own, name: arrival.stored.name.text, types)
    }

    /// - Parameters:
    ///   - own: the declared type of a file, and that of its content.
    ///   - name: its name or path.
    ///   - types: the types that are known here.
    package static func includes(_ own: [UniformType], name: String, _ types: TypeRegistry) -> Bool {
        own.contains { type in kinds.contains { types.conforms(type, to: $0) } }
            || name.lowercased().hasSuffix(".desktop")
    }

    private static let kinds = [UniformType.executable, .script]
}
