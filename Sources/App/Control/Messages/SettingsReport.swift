/// The result of reading the settings again: a receiver uses all of them, or none.
package struct SettingsReport: Codable, Sendable, Equatable {
    /// The settings with other values than before, by name.
    package var changed: [String]
    /// Settings whose values in the file an option or a variable of the receiver overrides.
    package var overridden: [String]
    /// One line each, with its place; the receiver keeps its settings if there is any.
    package var faults: [String]

    package init(changed: [String] = [], overridden: [String] = [], faults: [String] = []) {
        (self.changed, self.overridden, self.faults) = (changed, overridden, faults)
    }
}
