import DBusClient
import Discovery
import Endpoints
import Settings
import Sharing

/// The software that answers mDNS questions here: avahi-daemon, Waft's own responder, and others beside them.
struct ResponderCheck: DoctorCheck {
    let name = "responder"

    /// The port of multicast DNS (RFC 6762, 2).
    private static let port: UInt16 = 5_353
    /// How long the bus may take.
    private static let answering: Duration = .seconds(2)

    func findings(_ scene: DoctorScene) async -> [DoctorFinding] {
        guard scene.settings.discovery else { return [] }
        let owners = PortOwners.bound(toUDP: Self.port)
        return Self.findings(
            daemonFault: await Self.daemonFault(scene.environment), owners, embedded: Directories.embeddedFault)
    }

    /// - Parameters:
    ///   - daemonFault: why avahi-daemon does not answer; nil if it does.
    ///   - owners: the programs on UDP port 5353.
    ///   - embedded: why there is no responder in the process; nil if there is one.
    static func findings(
        daemonFault: String?, _ owners: [PortOwners.Owner], embedded: DiscoveryError?
    ) -> [DoctorFinding] {
        let others = owners.filter { owner in
            // Programs of others that cannot be seen may be avahi-daemon itself.
            guard let program = owner.program else { return daemonFault != nil }
            return !["avahi-daemon", "waft", "waftd"].contains(program)
        }
        var findings: [DoctorFinding] = []
        if let daemonFault {
            let words = "avahi-daemon does not answer (\(daemonFault))"
            let hint = "install and start it: apt install avahi-daemon; systemctl start avahi-daemon"
            if let embedded {
                findings.append(.problem("\(words), and Waft's own responder cannot run: \(embedded)", hint: hint))
            } else {
                findings.append(.ok("Waft's own responder, while a receiver runs: \(words)"))
            }
        } else {
            findings.append(.ok("avahi-daemon"))
        }
        if !others.isEmpty {
            let list = others.map(\.text).joined(separator: ", ")
            findings.append(
                .warning(
                    "another responder has UDP port 5353: \(list)",
                    hint: "if names are not found, let it leave mDNS to avahi-daemon (systemd-resolved: "
                        + "MulticastDNS=no in resolved.conf)"))
        }
        return findings
    }

    private static func daemonFault(_ environment: [String: String]) async -> String? {
        do {
            let bus = try await BusClient.connect(
                to: .system(environment), limits: BusLimits(messageBytes: 65_536), timeout: answering)
            return try await bus.isOwned("org.freedesktop.Avahi", timeout: answering) ? nil : "it is not running"
        } catch {
            return "no system bus: \(error)"
        }
    }
}
