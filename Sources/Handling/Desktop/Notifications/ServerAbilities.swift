/// The abilities of a notification server, by its answer to `GetCapabilities`.
struct ServerAbilities: Hashable {
    /// It shows buttons, and reports the one that was pressed.
    var hasActions: Bool
    /// It reads markup in the body.
    var hasMarkup: Bool
}

extension ServerAbilities {
    /// - Parameter capabilities: the words of the Desktop Notifications Specification.
    init(_ capabilities: [String]) {
        self.init(hasActions: capabilities.contains("actions"), hasMarkup: capabilities.contains("body-markup"))
    }
}
