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
        let backend: RadioBackend?
        do throws(RadioFault) {
            backend = try RadioBackend.find(scene.settings.airdrop.radio)
        } catch {
            return [Self.finding(error)]
        }
        guard let backend else {
            return [
                .ok(
                    "iPhones do not see this machine: that needs a radio backend, such as omdrop-owl, in "
                        + "/usr/lib/omdrop; see UsingIPhones.md in share/doc/waft")
            ]
        }
        return await findings(scene, backend, isUp: RadioLink.current != nil)
    }

    /// Each question to the backend stands by itself: a fault of one hides no other finding.
    /// - Parameter isUp: whether the radio link is up.
    func findings(_ scene: DoctorScene, _ backend: RadioBackend, isUp: Bool) async -> [DoctorFinding] {
        let radio = Radio(LiveSettings(scene.settings))
        let told = scene.status?.radio
        var findings: [DoctorFinding] = []
        do throws(RadioFault) {
            let probe = try await radio.probe(backend)
            findings += Self.findings(
                probe, probe.version.isEmpty ? probe.backend : "\(probe.backend) \(probe.version)")
        } catch {
            findings.append(Self.finding(error))
        }
        let owners = isUp ? PortOwners.listening(onTCP: UInt16(RadioBackend.port)) : []
        findings += Self.told(told, Self.port(owners, own: scene.status?.processID), besides: findings)
        if isUp { return findings + (await Self.window(radio, backend, scene)) }
        let hint = "it comes with: waft visible everyone --for 10m"
        return findings + (told?.visible == true ? [.warning("awdl0 is not up", hint: hint)] : [])
    }

    /// The fault that the receiver tells, and the programs on its port.
    /// - Parameters:
    ///   - port: the findings about the port.
    ///   - others: the findings before; a fault of theirs is not told again.
    static func told(
        _ radio: StatusLine.Radio?, _ port: [DoctorFinding], besides others: [DoctorFinding]
    ) -> [DoctorFinding] {
        guard let radio, let fault = radio.fault, !others.contains(where: { $0.reason == fault }) else { return port }
        guard radio.radioFault == RadioFault.portTaken("").code else {
            return [.warning(fault, hint: radio.hint ?? "see: waft status")] + port
        }
        // Its hint is the doctor.
        return port.isEmpty ? [DoctorFinding(result: .warning, reason: fault, hint: nil)] : port
    }

    private static func finding(_ fault: RadioFault) -> DoctorFinding {
        .warning(fault.description, hint: fault.hint)
    }

    private static func window(_ radio: Radio, _ backend: RadioBackend, _ scene: DoctorScene) async -> [DoctorFinding] {
        var findings: [DoctorFinding] = []
        do throws(RadioFault) {
            let status = try await radio.status(of: backend)
            guard status.isVisible else { return [.ok("awdl0 is up, and the window is closed")] }
            findings = [.ok("the window is open\(time(status))")]
            let heard = try await radio.peers(of: backend).count
            return [window(status, heard: heard, answered: heard == 0 ? 0 : await answered(scene.finder))]
        } catch {
            return findings + [finding(error)]
        }
    }

    private static func time(_ status: RadioStatus) -> String { status.remaining.map { ", \($0) s left" } ?? "" }

    static func findings(_ probe: RadioProbe, _ name: String) -> [DoctorFinding] {
        if probe.missing.isEmpty, probe.hasHardware { return [.ok("the radio backend is \(name)")] }
        let words = probe.missing.isEmpty ? ["it finds no Wi-Fi card that it can use"] : probe.missing
        return words.map { .warning("\(name): \($0)", hint: "iPhones may not see this machine until then") }
    }

    /// - Parameters:
    ///   - owners: the programs that listen on the port of the radio link.
    ///   - own: the process of this home's receiver; nil for none.
    static func port(_ owners: [PortOwners.Owner], own: Int?) -> [DoctorFinding] {
        let others = owners.filter { $0.process == nil || $0.process.map(Int.init) != own }
        guard !others.isEmpty else { return [] }
        let list = others.map(\.text).joined(separator: ", ")
        return [
            .warning(
                "\(RadioBackend.port), where iPhones are received, is taken by \(list)",
                hint: "end that program: only one can receive from them")
        ]
    }

    static func window(_ status: RadioStatus, heard: Int, answered: Int) -> DoctorFinding {
        let time = time(status)
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
