import DBusClient

/// The properties of a session that matter here (org.freedesktop.login1(5), "Session Objects").
struct LogindSession: Hashable, Sendable {
    private static let graphicalTypes: Set<String> = ["x11", "wayland", "mir"]
    /// Maximum number of properties that are read; logind has some thirty.
    static let mostProperties = 256

    /// Nil if unknown.
    var user: UInt32?
    /// `user`, `greeter`, `lock-screen`, …
    var userClass = ""
    /// `tty`, `x11`, `wayland`, …
    var type = ""
    /// `closing` when the user has logged out and only processes are left.
    var state = ""
    var isLocked = false

    /// Whether it is a person's, at a screen or not: no greeter, no lock screen.
    var isPersonal: Bool { userClass == "user" }
    /// Whether a person uses it at a screen.
    var isPresent: Bool { isPersonal && Self.graphicalTypes.contains(type) && state != "closing" }
    var isLockedScreen: Bool { isPresent && isLocked }

    /// Takes the properties from an `a{sv}`, which may have only some of them.
    ///
    /// - Returns: false if the next argument is no `a{sv}`.
    mutating func take(_ arguments: inout BusReader) -> Bool {
        var session = self
        let isDictionary = arguments.dictionary(most: Self.mostProperties) { key, value in
            switch key {
            case "User": session.user = value.structure { $0.uint32() } ?? session.user
            case "Class": session.userClass = value.string() ?? session.userClass
            case "Type": session.type = value.string() ?? session.type
            case "State": session.state = value.string() ?? session.state
            case "LockedHint": session.isLocked = value.boolean() ?? session.isLocked
            default: break
            }
        }
        self = session
        return isDictionary
    }
}
