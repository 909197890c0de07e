/// Looks for some related causes of trouble. Changes nothing.
protocol DoctorCheck: Sendable {
    /// A word for the lines of the check.
    var name: String { get }

    /// - Returns: in the order of display; empty if there is nothing to look at. Takes a few seconds at most.
    func findings(_ scene: DoctorScene) async -> [DoctorFinding]
}

/// All checks, in the order of their lines: a later cause may follow from an earlier one.
enum DoctorChecks {
    static let all: [any DoctorCheck] = [
        HomeCheck(), SettingsCheck(), ClockCheck(), DiskCheck(), InboxCheck(), ReceiverCheck(), VisibilityCheck(),
        PortCheck(), InterfacesCheck(), ResponderCheck(), MulticastCheck(), PeerCheck(), NotificationCheck(),
        AwakeCheck(), HandlersCheck(), SandboxCheck(), ProtectionCheck(),
    ]
}
