import Endpoints
import Lines
import Sending
import Settings
import Sharing

/// The radio backend, without which iPhones see nothing of this machine.
struct RadioCheck: DoctorCheck {
    let name = "iphones"

    /// How long the peers that were heard have to answer.
    private static let answering: Duration = .seconds(4)

    func findings(_ scene: DoctorScene) async -> [DoctorFinding] {
        guard scene.settings.airdrop.isEnabled, scene.settings.airdrop.radio != .off else { return [] }
        do throws(RadioFault) {
            guard let backend = try RadioBackend.find(scene.settings.airdrop.radio) else {
                return [
                    .ok(
                        "iPhones do not see this machine: that needs a radio backend, such as omdrop-owl, in "
                            + "/usr/lib/omdrop; see UsingIPhones.md in share/doc/waft")
                ]
            }
            return try await findings(scene, backend)
        } catch {
            return [.warning(error.description, hint: error.hint)]
        }
    }

    private func findings(_ scene: DoctorScene, _ backend: RadioBackend) async throws(RadioFault) -> [DoctorFinding] {
        let radio = Radio(LiveSettings(scene.settings))
        let probe = try await radio.probe(backend)
        let name = probe.version.isEmpty ? probe.backend : "\(probe.backend) \(probe.version)"
        var findings = Self.findings(probe, name)
        if let status = scene.status?.radio, let fault = status.fault {
            findings.append(.warning(fault, hint: status.hint ?? "see: waft status"))
        }
        guard RadioLink.current != nil else {
            let hint = "it comes with: waft visible everyone --for 10m"
            return findings + (scene.status?.radio?.visible == true ? [.warning("awdl0 is not up", hint: hint)] : [])
        }
        findings += Self.port(PortOwners.listening(onTCP: UInt16(RadioBackend.port)))
        let status = try await radio.status(of: backend)
        guard status.isVisible else { return findings + [.ok("awdl0 is up, and the window is closed")] }
        let heard = try await radio.peers(of: backend)
        let answered = heard.isEmpty ? 0 : await Self.answered(scene.finder)
        return findings + [Self.window(status, heard: heard.count, answered: answered)]
    }

    static func findings(_ probe: RadioProbe, _ name: String) -> [DoctorFinding] {
        if probe.missing.isEmpty, probe.hasHardware { return [.ok("the radio backend is \(name)")] }
        let words = probe.missing.isEmpty ? ["it finds no Wi-Fi card that it can use"] : probe.missing
        return words.map { .warning("\(name): \($0)", hint: "iPhones do not see this machine until then") }
    }

    /// - Parameter owners: the programs that listen on the port of the radio link.
    static func port(_ owners: [PortOwners.Owner]) -> [DoctorFinding] {
        let others = owners.filter { !["waft", "waftd"].contains($0.program) }
        guard !others.isEmpty else { return [] }
        let list = others.map(\.text).joined(separator: ", ")
        return [
            .warning(
                "\(RadioBackend.port), where iPhones are received, is taken by \(list)",
                hint: "end that program: only one can receive from them")
        ]
    }

    static func window(_ status: RadioStatus, heard: Int, answered: Int) -> DoctorFinding {
        let time = status.remaining.map { ", \($0) s left" } ?? ""
        let peers = "\(heard) peer\(heard == 1 ? "" : "s") heard, \(answered) answered"
        guard status.isProven || heard > 0 else {
            return .warning(
                "the window is open\(time); nothing was received yet",
                hint: "open the share sheet of an iPhone: it wakes its radio")
        }
        return .ok("the window is open\(time); \(peers)")
    }

    private static func answered(_ finder: PeerFinder?) async -> Int {
        var found: Set<PeerID> = []
        guard let finder else { return 0 }
        for await event in finder.peers(for: answering) {
            if case .found(let peer) = event, peer.target.isOnRadio { found.insert(peer.id) }
        }
        return found.count
    }
}
