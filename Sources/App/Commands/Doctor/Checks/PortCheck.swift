import Control
import Discovery
import Endpoints
import Lines
import Sending
import Settings
import Sharing

/// The port of the receiver: taken by another program, or filtered.
struct PortCheck: DoctorCheck {
    let name = "port"

    /// How long the receiver may take to answer at an address of its own machine.
    private static let answering: Duration = .seconds(2)
    /// Addresses that are tried.
    private static let tried = 4

    func findings(_ scene: DoctorScene) async -> [DoctorFinding] {
        let wanted = scene.settings.port ?? Endpoints.defaultPort
        guard let status = scene.status else {
            return [Self.taken(wanted, scene.settings.port != nil, by: PortOwners.listening(onTCP: wanted))]
        }
        guard let port = UInt16(exactly: status.port), port > 0 else {
            return [.warning("no port is open: the receiver is not visible", hint: "waft visible contacts")]
        }
        return await selfTest(scene, port, PeerID(text: status.id))
            + (port == wanted || scene.settings.port != nil ? [] : [Self.other(port, instead: wanted)])
    }

    /// Without a receiver: whether one could have the port.
    /// - Parameter isSet: whether the user has set this port.
    static func taken(_ port: UInt16, _ isSet: Bool, by owners: [PortOwners.Owner]) -> DoctorFinding {
        if owners.isEmpty { return .ok("\(port) is free") }
        if owners.allSatisfy({ $0.program == "systemd" }) {
            return .ok("systemd listens on \(port), to start the receiver of a service")
        }
        let words = "\(port) is taken by \(owners.map(\.text).joined(separator: ", "))"
        let hint = "end that program, or choose another port: port in config.yaml"
        return isSet
            ? .problem("\(words): no receiver can start", hint: hint)
            : .warning("\(words): a receiver would get another port", hint: hint)
    }

    private static func other(_ port: UInt16, instead wanted: UInt16) -> DoctorFinding {
        let owners = PortOwners.listening(onTCP: wanted).map(\.text).joined(separator: ", ")
        let words = owners.isEmpty ? "" : ", because \(wanted) is taken by \(owners)"
        return .warning(
            "the receiver has the port \(port)\(words): an address alone does not lead to it",
            hint: "give senders ADDRESS:\(port), or set another port and restart it")
    }

    private func selfTest(_ scene: DoctorScene, _ port: UInt16, _ own: PeerID?) async -> [DoctorFinding] {
        guard let own, let finder = scene.finder else { return [] }
        let addresses = scene.links.flatMap { link in
            link.addresses.map { $0.scope == 0 ? $0.host : "\($0.host)%\(link.interface.name)" }
        }.prefix(Self.tried)
        let faults = await withTaskGroup(of: (String, MeetingError?).self) { group in
            for address in addresses {
                group.addTask { (address, await Self.fault(address, port, own, finder)) }
            }
            return await group.reduce(into: [String: MeetingError?]()) { $0[$1.0] = .some($1.1) }
        }
        let results = addresses.map { ($0, faults[$0] ?? nil) }
        let reached = results.filter { $0.1 == nil }.map(\.0)
        let failed = results.compactMap { address, fault in fault.map { (address, $0) } }
        var findings: [DoctorFinding] = []
        if !reached.isEmpty { findings.append(.ok("\(port) answers at \(reached.joined(separator: ", "))")) }
        if let (address, fault) = failed.first {
            findings.append(Self.finding(fault, at: address, port))
        }
        return findings
    }

    private static func fault(
        _ address: String, _ port: UInt16, _ own: PeerID, _ finder: PeerFinder
    ) async -> MeetingError? {
        do throws(MeetingError) {
            _ = try await finder.meet(host: address, port: port, expecting: own, within: answering)
            return nil
        } catch {
            return error
        }
    }

    private static func finding(_ fault: MeetingError, at address: String, _ port: UInt16) -> DoctorFinding {
        switch fault.kind {
        case .noAnswer:
            .problem(
                "\(port) is filtered: the receiver runs, and does not answer at \(address)",
                hint: "allow TCP port \(port) in the firewall, such as: ufw allow \(port)/tcp")
        case .otherKey, .otherProgram:
            .problem(
                "another program answers on port \(port) at \(address): \(fault)",
                hint: "see which: ss -tlpn sport = :\(port)")
        case .refused, .unreachable, .unknownName:
            .problem(
                "\(port) does not answer at \(address): \(fault)",
                hint: "a firewall may reject it: allow TCP port \(port), such as: ufw allow \(port)/tcp")
        }
    }
}
