package import UniformTypes

/// What the user decided about handlers, apart from installing them.
package struct UserChoices: Hashable, Sendable {
    /// Handlers that are installed and not used.
    package var disabled: Set<BundleIdentifier>
    /// Who opens items of a type, and of those that conform to it, if it can.
    package var typeDefaults: [UniformType: BundleIdentifier]
    /// Who opens URLs of a scheme.
    package var schemeDefaults: [URLScheme: BundleIdentifier]

    package init(
        disabled: Set<BundleIdentifier> = [],
        typeDefaults: [UniformType: BundleIdentifier] = [:],
        schemeDefaults: [URLScheme: BundleIdentifier] = [:]
    ) {
        self.disabled = disabled
        self.typeDefaults = typeDefaults
        self.schemeDefaults = schemeDefaults
    }
}
