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
        let fault = await Self.daemonFault(scene.environment)
        let told = fault == nil ? await Self.told(scene) : nil
        return Self.findings(daemonFault: fault, told: told, owners, embedded: Directories.embeddedFault)
    }

    /// The records that avahi-daemon publishes of this machine, beside those of Waft.
    struct Told: Hashable {
        /// The machine's host name with its domain.
        var hostName: String
        /// Whether a workstation record names the machine's hardware address too.
        var hasWorkstation: Bool

        var text: String {
            "; by itself it tells the network the host name \(hostName)"
                + (hasWorkstation ? ", and the hardware address in a workstation record" : ", no workstation record")
        }
    }

    /// - Parameters:
    ///   - told: what avahi-daemon tells; nil if that is not known.
    ///   - daemonFault: why avahi-daemon does not answer; nil if it does.
    ///   - owners: the programs on UDP port 5353.
    ///   - embedded: why there is no responder in the process; nil if there is one.
    static func findings(
        daemonFault: String?, told: Told? = nil, _ owners: [PortOwners.Owner], embedded: DiscoveryError?
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
            findings.append(.ok("avahi-daemon" + (told?.text ?? "")))
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

    private static let avahi = "org.freedesktop.Avahi"

    private static func daemonFault(_ environment: [String: String]) async -> String? {
        do {
            return try await bus(environment).isOwned(avahi, timeout: answering) ? nil : "it is not running"
        } catch {
            return "no system bus: \(error)"
        }
    }

    private static func bus(_ environment: [String: String]) async throws(BusError) -> BusClient {
        try await .connect(to: .system(environment), limits: BusLimits(messageBytes: 65_536), timeout: answering)
    }

    private static func told(_ scene: DoctorScene) async -> Told? {
        let call = BusCall(to: avahi, path: "/", interface: avahi + ".Server", member: "GetHostNameFqdn")
        guard let bus = try? await bus(scene.environment),
            let name = try? await bus.call(call, timeout: answering, reading: { $0.string() })
        else { return nil }
        return Told(hostName: name, hasWorkstation: await hasWorkstation(scene.settings.denied))
    }

    /// Whether this machine is among the workstations on its links. avahi-daemon has no word for it: it is found.
    private static func hasWorkstation(_ denied: InterfacePatterns) async -> Bool {
        guard let directory = try? Directories.daemon(denied: denied) else { return false }
        let events = directory.browse(type: "_workstation._tcp")
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                for await event in events {
                    switch event {
                    case .updated(let service) where service.isLocal: return true
                    case .updated, .removed: continue
                    case .allForNow, .failed: return false
                    }
                }
                return false
            }
            group.addTask {
                try? await Task.sleep(for: answering)
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
    }
}
