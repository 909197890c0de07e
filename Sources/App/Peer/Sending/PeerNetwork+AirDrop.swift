import AirDropDialect
import Discovery
import HTTPChannel
import Logging
import NIOPosix
import SecureTransport
import Sharing
import Synchronization

/// This side as an AirDrop sender: its card, and its key for peers that ask for one.
package final class AirDropSide: Sendable {
    let card: AirDropCard
    /// New in each process, as the key is (security rule 14).
    let instance = AirDropDialect.makeInstance()
    private let identity = Mutex<Identity?>(nil)

    init(_ settings: Settings) {
        card = AirDropCard(name: settings.name, model: settings.airdrop.modelName)
    }

    /// Makes it at the first call, which takes a while.
    func key() throws -> Identity {
        try identity.withLock { identity in
            if let identity { return identity }
            let made = try Identity.make(kind: .rsa2048)
            identity = made
            return made
        }
    }

    /// Whether a receiver is an earlier Waft, which declares this in its TXT record. This version declares it with its
    /// name: a strict sender may expect no other key in the record.
    static func isOwn(_ service: DiscoveredService) -> Bool { service.txt["waft"] != nil }
}

/// The facts about an AirDrop peer before it is asked.
struct AirDropPeer: Sendable, Hashable {
    var instance: String
    var flags: AirDropFlags
    /// The name that the peer gives itself, once it is known.
    var name: String?

    /// For messages.
    var shownName: String { name ?? instance }

    /// Nobody's fingerprint; the same as long as it goes by this instance name.
    var id: PeerID { .unproven(.airdrop, seed: Array(instance.utf8)) }
}

/// The instances in view, with where they were last asked.
private final class AirDropView: Sendable {
    private let targets = Mutex<[String: PeerTarget]>([:])
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    /// - Returns: whether it is to be asked there: it was not before, and there are not too many.
    func enter(_ instance: String, at target: PeerTarget) -> Bool {
        targets.withLock { targets in
            guard targets[instance] != target, targets.count < limit || targets[instance] != nil else { return false }
            targets[instance] = target
            return true
        }
    }

    func has(_ instance: String, at target: PeerTarget) -> Bool { targets.withLock { $0[instance] == target } }

    /// - Returns: whether it was there.
    func leave(_ instance: String) -> Bool { targets.withLock { $0.removeValue(forKey: instance) != nil } }
}

extension PeerNetwork {
    /// Timeout for a peer to send its name, and number of attempts: at the first, the peer often is only waking up.
    private static let discoverPatience: Duration = .seconds(3)
    private static let discoverAttempts = 3
    /// Peers in view that are asked: anybody on the link can announce thousands.
    private static let peersInView = 256

    // MARK: Finding

    /// Peers of AirDrop's as they are found: each service is asked what it is called.
    func lookForAirDrop(in directory: any ServiceDirectory, _ found: AsyncStream<PeerEvent>.Continuation) async {
        guard let airdrop else { return }
        let view = AirDropView(limit: Self.peersInView)
        await withDiscardingTaskGroup { group in
            for await event in directory.browse(type: AirDropDialect.serviceType) {
                switch event {
                case .updated(let service):
                    guard !AirDropSide.isOwn(service) else { continue }
                    let target = Self.target(of: service)
                    guard view.enter(service.instance, at: target) else { continue }
                    group.addTask {
                        guard let peer = await self.ask(target, airdrop) else { return }
                        if view.has(service.instance, at: target) { found.yield(.found(peer)) }
                    }
                case .removed(let instance):
                    let peer = AirDropPeer(instance: instance, flags: .standard)
                    if view.leave(instance) { found.yield(.gone(peer.id)) }
                // The other search says it too.
                case .failed, .allForNow: continue
                }
            }
            group.cancelAll()
        }
    }

    private static func target(of service: DiscoveredService) -> PeerTarget {
        let addresses = service.addresses.map { DialAddress(host: $0.host, port: Int($0.port), scopeID: $0.scope) }
        var target = PeerTarget(addresses: addresses, expected: nil)
        target.airdrop = AirDropPeer(instance: service.instance, flags: AirDropDialect.flags(txt: service.txt))
        return target
    }

    /// - Returns: nil for a peer that does not show itself.
    private func ask(_ target: PeerTarget, _ airdrop: AirDropSide) async -> FoundPeer? {
        for attempt in 0..<Self.discoverAttempts {
            if attempt > 0 { try? await Task.sleep(for: .seconds(1)) }
            guard !Task.isCancelled else { return nil }
            guard let connection = try? await dialAirDrop(target, airdrop, within: Self.discoverPatience) else {
                continue
            }
            let card = try? await HTTPClient.run(connection) { http in
                try await AirDropClient(http, card: airdrop.card, instance: airdrop.instance)
                    .discover(patience: Self.discoverPatience)
            }
            guard let peer = target.airdrop, let card else { continue }
            // The peer also publishes Waft's own service, which proves its key. It must not be shown twice.
            guard !card.isWaft else { return nil }
            var named = target
            named.airdrop?.name = card.name
            return FoundPeer(id: peer.id, card: Card(name: card.name, device: card.model), target: named)
        }
        return nil
    }

    private func dialAirDrop(
        _ target: PeerTarget, _ airdrop: AirDropSide, within limit: Duration
    ) async throws -> HTTPClient.Connection {
        var limits = TransportLimits()
        limits.dialDeadline = min(limits.dialDeadline, limit)
        let key = try await withTaskExecutorPreference(blocking) { try airdrop.key() }
        let dialer = try SecureDialer(
            identity: key, profile: .airdrop, limits: limits, group: .singleton, logger: logger)
        return try await dialer.dial(target.addresses) { channel, _ in
            try HTTPClient.configure(channel, answerLimit: 1 << 20)
        }.output
    }

    // MARK: Sending

    /// - Throws: `SendFailure`.
    func sendByAirDrop(
        _ sources: [any ItemSource],
        _ offer: Offer,
        to target: PeerTarget,
        _ peer: AirDropPeer,
        options: SendOptions,
        cancellation: Cancellation,
        observe: @escaping @Sendable (SendEvent) -> Void
    ) async throws(SendFailure) -> SendReport {
        let name = peer.shownName
        guard let airdrop else { throw SendFailure(.unreachable, "AirDrop is switched off here") }
        // Exit code 0 would say that it was opened.
        guard options.wait != .opened else {
            throw SendFailure(.unfit, "\(name) is reached by AirDrop, which does not tell whether anything was opened")
        }
        do {
            let plan = try SendingPlan(offer, sources, to: peer.flags)
            let sending = AirDropSending(
                plan: plan, target: target, peer: peer, options: options, cancellation: cancellation, observe: observe)
            let (items, moved) = try await send(sending, airdrop)
            return SendReport(peer: peer.id, name: peer.name, offer: offer, items: items, movedBytes: moved)
        } catch let fault as SourceFault {
            throw SendFailure(.refused(fault.code == .changed ? .changed : .unreadable), fault.message)
        } catch let fault as TransferFault {
            throw SendFailure(.refused(fault.code), fault.message)
        } catch let error as DialError {
            throw SendFailure(.unreachable, "\(error)")
        } catch {
            throw SendJob.failure(error, to: name)
        }
    }

    /// Asks and sends, in the form that the receiver announces. A receiver that does not take that form is asked once more,
    /// and gets the other one: an answer with a question before it holds for one connection.
    private func send(
        _ sending: AirDropSending, _ airdrop: AirDropSide
    ) async throws -> (items: [SendOutcome.Item], moved: UInt64) {
        do {
            return try await attempt(sending, airdrop, sending.peer.flags, isFirst: true)
        } catch is BodyFormRefusal {
            logger.debug("the receiver refused the form of the contents, and is asked again for the other form")
        }
        do {
            return try await attempt(sending, airdrop, sending.peer.flags.inOtherForm, isFirst: false)
        } catch let refusal as BodyFormRefusal {
            throw refusal.fault
        }
    }

    private func attempt(
        _ sending: AirDropSending, _ airdrop: AirDropSide, _ flags: AirDropFlags, isFirst: Bool
    ) async throws -> (items: [SendOutcome.Item], moved: UInt64) {
        let (plan, peer, options, observe) = (sending.plan, sending.peer, sending.options, sending.observe)
        let connection = try await dialAirDrop(sending.target, airdrop, within: options.finding)
        if isFirst { observe(.connected(peer.id, name: peer.name)) }
        return try await withTaskExecutorPreference(blocking) {
            try await HTTPClient.converse(connection) { http in
                let client = AirDropClient(http, card: airdrop.card, instance: airdrop.instance)
                if isFirst { observe(.offered(plan.offer)) }
                let verdict: Verdict
                do {
                    verdict = try await client.ask(plan, patience: options.answer)
                } catch let fault as HTTPFault where fault == .silence {
                    throw SendFailure.unanswered(peer.shownName, within: options.answer)
                }
                if isFirst { observe(.answered(verdict)) }
                var moved: UInt64 = 0
                guard verdict.acceptsAnything else {
                    return (SendOutcome(verdict).items, moved)
                }
                let total = plan.offer.knownSize
                let outcome = try await client.upload(
                    plan, to: flags, patience: options.silence, stall: options.stall,
                    cancellation: sending.cancellation
                ) { bytes in
                    moved = bytes
                    observe(.progressed(bytes, of: total, moved: bytes))
                }
                observe(.settled)
                return (outcome.items, moved)
            }
        }
    }
}

/// One sending by AirDrop, whichever form its contents have.
private struct AirDropSending: Sendable {
    let plan: SendingPlan
    let target: PeerTarget
    let peer: AirDropPeer
    let options: SendOptions
    let cancellation: Cancellation
    let observe: @Sendable (SendEvent) -> Void
}
