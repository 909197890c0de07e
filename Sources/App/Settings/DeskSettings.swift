/// The settings for the windows of `waft desk`.
package struct DeskSettings: Sendable, Equatable {
    /// Whether a window sounds when something has arrived.
    package var sounds = false
    /// Whether the room shows the first steps as long as nothing is set up. *Not now* in a window
    /// turns this off. The pages keep nothing themselves: their origin has another port at each start.
    package var showsFirstSteps = true

    package init() {}
}
