import CNIOLinux
import Discovery
import Groups
import HTTPChannel
import Logging
import NIOCore
import NIOPosix
import SecureTransport
import Sharing
import Synchronization
import WaftDialect

extension WaftEndpoint {
    /// Dials the members of a group, each at the addresses of its place, which the caller has checked. The member must prove
    /// the key of the place before a byte of HTTP leaves.
    ///
    /// - Parameter scope: the interface on which link-local addresses are dialled, by its number; nil for none.
    func linkDialing(scope: UInt32?) -> LinkDialing {
        { next, group in
            let addresses = next.addresses.map { address in
                DialAddress(
                    host: address.text, port: Int(next.port), scopeID: address.isLinkLocal ? scope : nil)
            }
            let limit = GroupLimits().dial
            do {
                let target = PeerTarget(dialect, addresses: addresses).expecting(next.peer)
                let connection = try await dial(target, within: limit)
                return try await HTTPClient.converse(connection.output) { http in
                    try await WaftClient(http).beginLink(of: group, next.token, timeout: limit)
                }
            } catch {
                // The sender learns of it when the time for dialling is over: see `MemberLedger` and `SenderLedger`.
                return nil
            }
        }
    }

    /// How a member of a group reaches the next one from the place where the sender's connection came.
    ///
    /// - Parameters:
    ///   - local: this side's address of that connection; nil: nothing is dialled.
    ///   - passesOn: called when contents are passed on to the next one.
    func reach(
        from local: SocketAddress?, passesOn: @escaping @Sendable (TransferID, PeerID) -> Void = { _, _ in }
    ) -> GroupReach {
        let (bytes, scope) = local?.hostBytes ?? ([], 0)
        let networks = LocalNetworks(of: bytes, scope: scope)
        let rule = DialRule(
            subnets: networks.networks.compactMap { network in
                NetworkAddress(bytes: network.bytes).map { Subnet($0, prefixLength: network.prefixLength) }
            },
            own: Set(networks.own.compactMap { NetworkAddress(bytes: $0) }))
        return GroupReach(rule: rule, dialing: linkDialing(scope: networks.interface), news: groupNews(passesOn))
    }

    /// Writes the events of a membership to the log. Its neighbours do not fill it.
    private func groupNews(
        _ passesOn: @escaping @Sendable (TransferID, PeerID) -> Void
    ) -> @Sendable (GroupNews) -> Void {
        let faults = Mutex(LogRateLimiter(interval: .seconds(10)))
        return { [logger] news in
            switch news {
            case .passesOn(let transfer, let sender, let next):
                passesOn(transfer, next)
                logger.info(
                    "passes contents on",
                    metadata: ["transfer": "\(transfer)", "from": "\(sender.shown)", "to": "\(next.shown)"])
            case .ended(let transfer, let sender, let end):
                logger.info(
                    "a group ended",
                    metadata: ["transfer": "\(transfer)", "from": "\(sender.shown)", "reason": "\(end)"])
            case .trouble(let trouble):
                guard faults.withLock({ $0.mayBeSaid(now: .now) }) else { return }
                logger.notice("a link of a group failed", metadata: ["reason": "\(trouble)"])
            case .refused(let peer, let error):
                guard faults.withLock({ $0.mayBeSaid(now: .now) }) else { return }
                logger.notice(
                    "a link of a group was refused", metadata: ["peer": "\(peer.shown)", "reason": "\(error)"])
            }
        }
    }
}

extension WaftEndpoint.OpenConnection {
    /// Where a member of a group finds the peer; nil at a loopback address, which only this machine has.
    var location: GroupSending.Location? {
        guard let address, let port = address.port.flatMap(UInt16.init(exactly:)) else { return nil }
        guard let host = address.hostBytes, let network = NetworkAddress(bytes: host.bytes), !network.isLoopback else {
            return nil
        }
        return GroupSending.Location(addresses: [network], port: port, scope: host.scope)
    }
}
