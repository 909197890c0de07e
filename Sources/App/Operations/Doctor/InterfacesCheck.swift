import DBusClient
import Discovery
import Endpoints
import Executors
import Sending
import Settings
import Sharing
import SystemCalls

/// The network interfaces on which this machine is announced.
struct InterfacesCheck: DoctorCheck {
    let name = "network"

    func findings(_ scene: DoctorScene) async -> [DoctorFinding] {
        let links = LocalLink.current(port: Endpoints.defaultPort)
        return [Self.finding(links, unplugged: LocalLink.unplugged().map(\.name), scene.settings)]
    }

    /// - Parameter unplugged: names of the interfaces that lack a carrier alone.
    static func finding(_ links: [LocalLink], unplugged: [String] = [], _ settings: Settings) -> DoctorFinding {
        guard settings.discovery else {
            return .warning(
                "discovery is off: other machines reach this one by its address only",
                hint: "set discovery to true in config.yaml, and unset WAFT_DISCOVERY")
        }
        let out = unplugged.filter { !settings.denied.contains($0) }.joined(separator: ", ")
        guard !links.isEmpty || !out.isEmpty else {
            return .problem(
                "no network interface is up that can multicast", hint: "connect this machine to a network; see: ip link"
            )
        }
        let (skipped, used) = (
            links.filter { settings.denied.contains($0.interface.name) },
            links.filter { !settings.denied.contains($0.interface.name) }
        )
        let names = { (links: [LocalLink]) in links.map(\.interface.name).joined(separator: ", ") }
        let patterns = settings.skipInterfaces.joined(separator: ", ")
        guard !used.isEmpty || out.isEmpty else {
            return .problem(
                "no carrier on \(out)", hint: "plug in the cable, or join a Wi-Fi network; see: ip link")
        }
        guard !used.isEmpty else {
            return .problem(
                "no network interface is left: skipInterfaces (\(patterns)) leaves out \(names(skipped))",
                hint: "take the interface of your network out of skipInterfaces")
        }
        let addressed = used.filter { !$0.addresses.isEmpty }
        guard !addressed.isEmpty else {
            return .problem("no address on \(names(used))", hint: "see: ip address; does DHCP work?")
        }
        let without = [
            out.isEmpty ? "" : ", without \(out) (no carrier)",
            skipped.isEmpty ? "" : ", without \(names(skipped)) (skipInterfaces)",
        ]
        return .ok(names(addressed) + without.joined())
    }
}

extension DoctorScene {
    /// The links that discovery uses.
    var links: [LocalLink] {
        LocalLink.current(port: Endpoints.defaultPort).filter {
            !settings.denied.contains($0.interface.name) && !$0.addresses.isEmpty
        }
    }
}

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

/// Whether mDNS passes this machine's own packet filters.
struct MulticastCheck: DoctorCheck {
    let name = "mdns"

    private static let listening: Duration = .milliseconds(1_200)

    func findings(_ scene: DoctorScene) async -> [DoctorFinding] {
        let links = scene.links
        guard scene.settings.discovery, !links.isEmpty else { return [] }
        let result = await BackgroundThread.run("waft-doctor") { () -> Result<Set<LocalLink>, DiscoveryError> in
            do throws(DiscoveryError) {
                return .success(try MulticastEcho.heard(on: links, within: Self.listening))
            } catch {
                return .failure(error)
            }
        }
        switch result {
        case nil: return []
        case .failure(let error):
            return [
                .problem(
                    "mDNS cannot be used: \(error.cause); another program has the port alone",
                    hint: "see which: ss -ulpn sport = :5353")
            ]
        case .success(let heard):
            return Self.findings(links, heard)
        }
    }

    static func findings(_ links: [LocalLink], _ heard: Set<LocalLink>) -> [DoctorFinding] {
        let silent = links.filter { !heard.contains($0) }.map(\.interface.name)
        let passed = links.filter(heard.contains).map(\.interface.name)
        let hint =
            "allow UDP port 5353 in the firewall, such as: ufw allow mdns; or firewall-cmd --add-service=mdns --permanent"
        var findings: [DoctorFinding] = []
        if !passed.isEmpty { findings.append(.ok("a question passes on \(passed.joined(separator: ", "))")) }
        if !silent.isEmpty {
            let words =
                "mDNS is blocked on \(silent.joined(separator: ", ")): this machine does not hear its own question"
            findings.append(passed.isEmpty ? .problem(words, hint: hint) : .warning(words, hint: hint))
        }
        return findings
    }
}

/// The peer of `--peer`: whether it is found, answers, and shows itself.
struct PeerCheck: DoctorCheck {
    let name = "peer"

    private static let finding: Duration = .seconds(4)
    private static let answering: Duration = .seconds(4)
    /// How long an announcement may take to be seen.
    private static let looking: Duration = .seconds(3)

    func findings(_ scene: DoctorScene) async -> [DoctorFinding] {
        guard let reference = scene.peer else { return [] }
        guard let finder = scene.finder else {
            return [.problem("\(reference) was not looked for", hint: "first correct the lines above")]
        }
        let target: PeerTarget
        do {
            target = try await finder.resolve(reference, within: Self.finding)
        } catch {
            return [.problem(error.description, hint: Self.unseen)]
        }
        guard target.dialect.provesKeys else { return [.ok("\(reference) is in view, by \(target.dialect.title)")] }
        do throws(MeetingError) {
            let peer = try await finder.meet(target, within: Self.answering)
            return [Self.met(peer, reference)] + (await unannounced(peer, finder, reference))
        } catch {
            return [Self.failed(error, reference)]
        }
    }

    private static let unseen =
        "run waft doctor there too; a network that separates its machines (guests) or has several segments needs: "
        + "waft peers add NAME ADDRESS"

    private static func met(_ peer: FoundPeer, _ reference: PeerReference) -> DoctorFinding {
        let place = peer.target.addressTexts.first ?? ""
        guard let card = peer.card else {
            return .warning(
                "\(reference) answers at \(place) with the key \(peer.id.short), but does not show itself to this machine",
                hint: "run there: waft visible everyone --for 10m; for good: waft pair --accept there, waft pair here")
        }
        return .ok("\(ShownText.peerName(card.name)) (\(peer.id.short)) answers at \(place)")
    }

    private static func failed(_ error: MeetingError, _ reference: PeerReference) -> DoctorFinding {
        let hint =
            switch error.kind {
            case .unknownName: "check the name, or give the address"
            case .unreachable: "are both machines on the same network? see: ip route get ADDRESS"
            case .noAnswer:
                "is the machine on? Its firewall may drop the port: run waft doctor there, and allow TCP port "
                    + "\(Endpoints.defaultPort)"
            case .refused: "start a receiver there: waftd; if it has another port, give ADDRESS:PORT"
            case .otherProgram: "another program has that port there: run waft doctor there, and give ADDRESS:PORT"
            case .otherKey: "another machine has that address now; if its key has changed, forget it and pair again"
            }
        return .problem("\(reference): \(error)", hint: hint)
    }

    /// A peer that answers, but whose announcement does not come through.
    private func unannounced(
        _ peer: FoundPeer, _ finder: PeerFinder, _ reference: PeerReference
    ) async -> [DoctorFinding] {
        guard finder.searches, peer.target.announcement == nil, case .address = reference else { return [] }
        for await event in finder.peers(for: Self.looking) {
            if case .found(let found) = event, found.id == peer.id { return [] }
        }
        return [
            .warning(
                "\(reference) answers, but its announcement does not come through: mDNS between the machines is blocked",
                hint:
                    "use the address, or remember it: waft peers add NAME \(ShellWord.quoted(ShownText.line("\(reference)", limit: 200)))"
            )
        ]
    }
}
