package import UniformTypes

/// The user's decisions about handlers, apart from installing them.
package struct UserChoices: Hashable, Sendable {
    /// Installed handlers that are not used.
    package var disabled: Set<BundleIdentifier>
    /// The first handler for items of a type, and of subtypes as far as it can open them.
    package var typeDefaults: [UniformType: BundleIdentifier]
    /// The first handler for URLs of a scheme.
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
