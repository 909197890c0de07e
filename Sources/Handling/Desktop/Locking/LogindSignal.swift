import DBusClient

/// A signal that decides about a lock.
enum LogindSignal: Sendable {
    /// logind's name has another owner, by its unique name; nil for none.
    case owner(String?)
    case sleep(begins: Bool)
    case sessionBegan(path: String)
    case sessionEnded(path: String)
    /// - Parameter isLocked: the new `LockedHint`; nil if the signal does not say it.
    case changed(path: String, isLocked: Bool?)
    case lock(path: String)

    /// The signal `Unlock` is not among them: it unlocks nothing.
    static let matches: [BusMatch] = [
        .owner(of: Logind.name),
        BusMatch(from: Logind.name, path: Logind.path, interface: Logind.manager, member: "PrepareForSleep"),
        BusMatch(from: Logind.name, path: Logind.path, interface: Logind.manager, member: "SessionNew"),
        BusMatch(from: Logind.name, path: Logind.path, interface: Logind.manager, member: "SessionRemoved"),
        BusMatch(from: Logind.name, path: nil, interface: Logind.session, member: "Lock"),
        BusMatch(
            from: Logind.name, path: nil, interface: Logind.properties, member: "PropertiesChanged",
            firstArgument: Logind.session),
    ]

    /// - Returns: nil if the arguments are not the expected ones.
    init?(_ signal: BusSignal, _ arguments: inout BusReader) {
        switch signal.member {
        case "NameOwnerChanged":
            guard arguments.string() == Logind.name, arguments.string() != nil, let new = arguments.string() else {
                return nil
            }
            self = .owner(new.isEmpty ? nil : new)
        case "PrepareForSleep":
            guard let begins = arguments.boolean() else { return nil }
            self = .sleep(begins: begins)
        case "SessionNew", "SessionRemoved":
            guard arguments.string() != nil, let path = arguments.objectPath() else { return nil }
            self = signal.member == "SessionNew" ? .sessionBegan(path: path) : .sessionEnded(path: path)
        case "Lock": self = .lock(path: signal.path)
        case "PropertiesChanged":
            guard arguments.string() == Logind.session else { return nil }
            var isLocked: Bool?
            arguments.dictionary(most: LogindSession.mostProperties) { key, value in
                if key == "LockedHint" { isLocked = value.boolean() }
            }
            self = .changed(path: signal.path, isLocked: isLocked)
        default: return nil
        }
    }
}
