import Endpoints
import Sending
import Settings
import Sharing

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
                hint: "use the address, or remember it: waft peers add NAME \(TerminalText.shellWord("\(reference)"))")
        ]
    }
}
