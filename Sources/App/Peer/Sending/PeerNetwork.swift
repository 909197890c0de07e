package import Contacts
package import Discovery
package import Executors
import HTTPChannel
package import Logging
import NIOCore
import NIOPosix
package import SecureTransport
package import Sharing
import WaftDialect

/// Where a peer can be reached, and whose key has to answer there.
package struct PeerTarget: Sendable, Hashable {
    /// The best first.
    package var addresses: [DialAddress]
    /// Nil where any key will do: an address the user typed.
    package var expected: PeerID?
    /// The abilities of an AirDrop peer; nil for a Waft peer.
    var airdrop: AirDropPeer?

    package init(addresses: [DialAddress], expected: PeerID?) {
        self.addresses = addresses
        self.expected = expected
    }

    func expecting(_ peer: PeerID) -> PeerTarget {
        PeerTarget(addresses: addresses, expected: peer)
    }

    /// Whether both are the same AirDrop receiver, which has another id each time it starts: the names are equal, and the
    /// other has each of the addresses.
    ///
    /// One address in common is not enough: a stranger could announce the receiver's address beside its own, and take the
    /// receiver's place.
    func isLaterSighting(of other: PeerTarget) -> Bool {
        guard let name = airdrop?.name, name == other.airdrop?.name, !addresses.isEmpty else { return false }
        return Set(addresses).isSubset(of: other.addresses)
    }

    /// For people.
    package var addressTexts: [String] { addresses.map(\.description) }
}

/// A peer that was found and answered.
package struct FoundPeer: Sendable {
    package var id: PeerID
    /// Nil if the peer does not send it.
    package var card: Card?
    package var target: PeerTarget

    /// The protocol with which the peer is reached.
    package var dialect: Dialect { target.airdrop == nil ? .waft : .airdrop }
}

/// An event of a search for peers.
package enum PeerEvent: Sendable {
    /// The peer was found, or the facts about it changed.
    case found(FoundPeer)
    case gone(PeerID)
    /// One line for the user: looking is hampered.
    case trouble(String)
}

/// The network as a sender sees it: finds peers and connects to them.
package struct PeerNetwork: Sendable {
    /// Nil where discovery is off.
    let directory: (any ServiceDirectory)?
    let identity: Identity
    /// The contacts and their names; nil if there are none.
    let contacts: ContactBook?
    /// Nil where AirDrop is not spoken.
    let airdrop: AirDropSide?
    let logger: Logger
    var limits = TransportLimits()
    /// Interval between two checks for a silent connection.
    var watchInterval: TimeAmount = .seconds(1)
    /// The only key that is connected to; nil where `PeerTarget` alone decides.
    var pinned: PeerID?
    /// Where conversations that read or write the disk run.
    package let blocking: BlockingExecutor

    package init(
        directory: (any ServiceDirectory)?, identity: Identity, contacts: ContactBook? = nil,
        airdrop: AirDropSide? = nil, sentLog: SentLog? = nil, logger: Logger
    ) {
        self.sentLog = sentLog
        self.directory = directory
        self.identity = identity
        self.contacts = contacts
        self.airdrop = airdrop
        self.logger = logger
        self.blocking = BlockingExecutor(threads: 8)
    }

    /// The log of sent transfers; nil if none is kept.
    let sentLog: SentLog?

    /// The same network, limited to connections with this peer.
    func expecting(_ peer: PeerID?) -> PeerNetwork {
        var network = self
        network.pinned = peer
        return network
    }

    /// Bytes of the largest answer: a verdict or receipt on `Limits.items` items.
    private static let answerLimit = Limits.offerBytes

    /// An open connection to a peer whose key is known.
    struct OpenConnection: Sendable {
        var peer: PeerID
        var http: HTTPClient.Connection
        var address: SocketAddress?
    }

    /// - Parameter starting: how long it is tried again where nothing listens.
    /// - Throws: `SendFailure`: `unreachable` with the reason.
    func connect(
        to target: PeerTarget, within limit: Duration, starting: Duration = .zero
    ) async throws(SendFailure) -> OpenConnection {
        let end = ContinuousClock.now + min(starting, limit)
        while true {
            do {
                let connection = try await dial(pinned.map(target.expecting) ?? target, within: limit)
                let open = OpenConnection(
                    peer: connection.peerID, http: connection.output, address: connection.remoteAddress)
                remember(open)
                return open
            } catch is CancellationError {
                throw SendFailure(.cancelled, "cancelled")
            } catch let error as DialError where error.mayBeStarting && ContinuousClock.now < end {
                try? await Task.sleep(for: Self.startingPause)
            } catch {
                throw SendFailure(.unreachable, "\(error)")
            }
        }
    }

    /// Between two tries to connect to a receiver that is starting.
    private static let startingPause: Duration = .milliseconds(100)

    private func dial(
        _ target: PeerTarget, within limit: Duration
    ) async throws -> SecureConnection<HTTPClient.Connection> {
        var limits = self.limits
        limits.dialDeadline = min(limits.dialDeadline, limit)
        let dialer = try SecureDialer(identity: identity, limits: limits, group: .singleton, logger: logger)
        let watchInterval = self.watchInterval
        return try await dialer.dial(target.addresses, expecting: target.expected.map { [$0] }) { channel, _ in
            try HTTPClient.configure(
                channel, answerLimit: Self.answerLimit, passage: BodyPassage(channel), watchInterval: watchInterval)
        }
    }

    /// Finds out whether a target answers with the key that it should have.
    /// - Throws: `DialError` and others.
    func probe(_ target: PeerTarget, within limit: Duration) async throws {
        let connection = try await dial(target, within: limit)
        try await HTTPClient.run(connection.output) { _ in }
    }

    /// Finds what `--to` names.
    ///
    /// The name of a contact means its key. Any other name is looked for among the peers in view, by name or beginning of the id, and after that as a host's name.
    /// - Throws: `SendFailure`: `notFound`, `ambiguous`, `cancelled`.
    func resolve(_ reference: PeerReference, within limit: Duration) async throws(SendFailure) -> PeerTarget {
        switch reference {
        case .address(let host, let port):
            return PeerTarget(addresses: [DialAddress(host: host, port: Int(port))], expected: nil)
        case .name(let name):
            if let contact = try contact(named: name) { return try await find(contact, within: limit) }
            let search = try await find(name, within: limit)
            if let target = search.target { return target }
            if Task.isCancelled { throw SendFailure(.cancelled, "cancelled") }
            if await Self.isHost(name) {
                return PeerTarget(
                    addresses: [DialAddress(host: name, port: Int(WaftDialect.defaultPort))], expected: nil)
            }
            let way = directory == nil ? " (discovery is off: give host:port)" : ""
            let advice = directory == nil ? "" : Self.advice(nameless: search.nameless, named: search.named)
            throw SendFailure(.notFound, "no machine named \(name) was found\(way)\(advice)")
        }
    }

    /// How long a second peer of the same name has to make itself known.
    private static let settling: Duration = .milliseconds(150)

    /// Names in a line.
    private static let shownNames = 5

    /// The next step for a user whose peer was not found.
    /// - Parameters:
    ///   - nameless: peers in view that tell their names to contacts only; one may be the peer that is meant.
    ///   - named: names of the other peers in view, as they tell them.
    static func advice(nameless: Set<PeerID>, named: Set<String>) -> String {
        guard let some = nameless.min(by: { $0.text < $1.text }) else {
            let names = named.sorted()
            let more = names.count > shownNames ? " and \(names.count - shownNames) more" : ""
            let view =
                names.isEmpty
                ? "no machine is in view" : "in view: \(names.prefix(shownNames).joined(separator: ", "))\(more)"
            return "; \(view); is waftd or waft receive running there? An address also works: --to ADDRESS"
        }
        let others =
            nameless.count == 1
            ? "1 machine here does not tell its name (\(some.short))"
            : "\(nameless.count) machines here do not tell their names"
        let key = nameless.count == 1 ? String(some.short.prefix(4)) : "KEY-ID"
        return "; \(others): if that is it, run there: waft visible everyone --for 10m, or pair: "
            + "waft pair --accept there, waft pair \(key) here"
    }

    private struct Search {
        var target: PeerTarget?
        /// Peers in view that do not tell their names.
        var nameless: Set<PeerID> = []
        /// The names that others in view tell.
        var named: Set<String> = []
    }

    private func find(_ name: String, within limit: Duration) async throws(SendFailure) -> Search {
        var matches: [PeerID: FoundPeer] = [:]
        var nameless: Set<PeerID> = []
        var named: Set<String> = []
        let (found, feed) = AsyncStream<PeerEvent?>.makeStream()
        let search = Task {
            for await event in peers(for: limit) { feed.yield(event) }
            feed.finish()
        }
        defer { search.cancel() }
        for await event in found {
            guard let event else { break }
            guard case .found(let peer) = event else { continue }
            if peer.card == nil, peer.dialect == .waft { nameless.insert(peer.id) } else { nameless.remove(peer.id) }
            if let card = peer.card { named.insert(ShownText.peerName(card.name)) }
            guard Self.matches(peer, name) else { continue }
            if matches.isEmpty {
                Task {
                    try? await Task.sleep(for: Self.settling)
                    feed.yield(nil)
                }
            }
            // A receiver of AirDrop's that was started again has another id, and its old record may live on for an hour.
            matches = matches.filter { !peer.target.isLaterSighting(of: $0.value.target) }
            matches[peer.id] = peer
        }
        // A peer that proves a key goes before a peer that proves none.
        if matches.values.contains(where: { $0.dialect == .waft }) {
            matches = matches.filter { $0.value.dialect == .waft }
        }
        guard matches.count <= 1 else {
            let ids = matches.keys.map(\.short).sorted().joined(separator: ", ")
            throw SendFailure(
                .ambiguous, "\(matches.count) peers are called \(name): \(ids); give the beginning of the id")
        }
        return Search(target: matches.values.first?.target, nameless: nameless, named: named)
    }

    private static func matches(_ peer: FoundPeer, _ name: String) -> Bool {
        peer.card?.name == name || peer.card?.name.lowercased() == name.lowercased() || peer.id.hasPrefix(name)
            || peer.target.airdrop?.instance == name
    }

    /// Whether the system's resolver knows the name.
    private static func isHost(_ name: String) async -> Bool {
        guard name.unicodeScalars.allSatisfy({ $0.isASCII && $0.value > 32 }) else { return false }
        return
            (try? await NIOThreadPool.singleton.runIfActive {
                try SocketAddress.makeAddressResolvingHost(name, port: 1)
            }) != nil
    }
}

extension BodyPassage {
    /// Past a channel that a `SecureDialer` made.
    fileprivate init(_ channel: any Channel) {
        self.init {
            guard let loan = await channel.borrowOutbound() else { return nil }
            return { buffers in
                switch loan.send(buffers) {
                case .sent: .sent
                case .left: .left
                case .over: .over
                }
            }
        } close: {
            channel.returnOutbound()
        }
    }
}

extension HTTPClient {
    /// A conversation that the user may break off: then a peer that takes nothing is not waited for.
    /// - Throws: what `body` throws.
    static func converse<Result: Sendable>(
        _ connection: Connection, _ body: (HTTPClient) async throws -> sending Result
    ) async throws -> Result {
        try await connection.channelBelow.hurriedWhenCancelled { try await run(connection, body) }
    }
}
