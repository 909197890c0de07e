import Executors
import Groups
import HTTPChannel
import NIOCore
import NIOHTTP1
import SecureTransport
import Sharing

extension WaftServer {
    /// Takes a place in which this machine passes the contents of an accepted offer on.
    ///
    /// - Returns: whether it may and can.
    func reservesPlace(for offer: Offer, _ verdict: Verdict, _ course: ConnectionState) -> Bool {
        let peer = course.visitor.peer
        let isContact = reception.access(of: peer, by: .waft) == .contact
        var offer = offer
        offer.origin = course.visitor.origin
        guard let group = offer.group, course.reach != nil, verdict.acceptsAnything,
            offer.mayBeRelayed(by: relay(), contact: isContact)
        else { return false }
        return groups.reserve(group.id, for: offer.transfer, of: peer, isContact: isContact) { transfer, peer in
            reception.underWay.contains { $0.offer.transfer == transfer && $0.peer == peer }
        }
    }

    /// The control connection of a group: it takes the place of the contents of the offer (Protocol, section 9.2).
    func join(_ id: GroupID, in exchange: HTTPExchange, _ course: ConnectionState) async throws {
        guard try await asks(exchange, for: GroupRequest.controlProtocol) else { return }
        let stream = try GroupRequest.stream(in: exchange.head.headers)
        let peer = course.visitor.peer
        guard let reach = course.reach, let transfer = groups.begin(id, of: peer) else { throw Self.noPlace }
        defer { groups.leave(id) }
        let incoming = try reception.begin(transfer, from: peer, interrupt: exchange.breakingOff)
        let membership: GroupMembership
        let line: SecureStream
        do {
            membership = try GroupMembership(id, stream, incoming, reception, reach())
            line = try await exchange.switchProtocols(to: GroupRequest.controlProtocol)
        } catch {
            _ = reception.fail(incoming, TransferError(.interrupted, "the connection broke off"))
            throw error
        }
        groups.enter(membership)
        let conversation = GroupConversation(
            membership: membership, reception: reception, transfer: transfer, stream: line)
        await withTaskCancellationHandler {
            if await BackgroundThread.run("waft-group", { conversation.run() }) == nil {
                conversation.giveUp(TransferError(.stopping, "no thread could be started", cause: .fault))
            }
            await membership.links()
        } onCancel: {
            line.interrupt()
        }
    }

    /// A link of a group. It gives the peer no other right than to bring blocks that the sender has named.
    func link(_ id: GroupID, in exchange: HTTPExchange, from peer: PeerID) async throws {
        guard try await asks(exchange, for: GroupRequest.linkProtocol) else { return }
        let token = try GroupRequest.token(in: exchange.head.headers)
        guard let membership = groups.membership(of: id) else { throw Self.noPlace }
        switch try await membership.arrive(peer, token) {
        case .refused(.tooManyArrivals):
            throw TransferError(.stopping, "too many links wait for their place", cause: .rule)
        case .refused:
            throw Self.noPlace
        case .accepted(let link, let first, let nudge):
            defer { membership.closed(link) }
            let stream = try await exchange.switchProtocols(to: GroupRequest.linkProtocol)
            guard membership.began(stream, link) else { return }
            let reading = LinkReading(
                membership: membership, stream: stream, link: link, first: first, nudge: nudge)
            await withTaskCancellationHandler {
                _ = await BackgroundThread.run("waft-link") { reading.run() }
            } onCancel: {
                stream.interrupt()
            }
        }
    }

    private func asks(_ exchange: HTTPExchange, for name: String) async throws -> Bool {
        if exchange.asks(for: name) { return true }
        let fault = TransferError(.protocolViolation, "a group needs the protocol \(name)")
        try await exchange.respondAndClose(.upgradeRequired, body: try WaftDialect.encode(fault))
        return false
    }

    /// The same for a group that is unknown here, for another peer and for a wrong token.
    private static let noPlace = TransferError(.notAccepted, "no place in a group covers this")
}
