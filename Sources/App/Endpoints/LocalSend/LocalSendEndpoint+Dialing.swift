import Contacts
import Discovery
import HTTPChannel
import LocalSendDialect
import NIOCore
import NIOPosix
import SecureTransport
import Sharing

extension LocalSendEndpoint {
    /// An open connection to a device.
    struct OpenConnection: Sendable {
        /// Of the key in the device's certificate. Without encryption it is an id that proves nothing.
        var peer: PeerID
        var http: HTTPClient.Connection
    }

    /// Connects to a device in the way that it announced.
    /// - Throws: `DialError`, and errors of the network.
    func open(_ target: PeerTarget, within limit: Duration) async throws -> OpenConnection {
        target.isPlain ? try await dialPlain(target, within: limit) : try await dial(target, within: limit)
    }

    /// Connects to a device by TLS, and proves this side's key where the device asks for one.
    func dial(_ target: PeerTarget, within limit: Duration) async throws -> OpenConnection {
        var limits = TransportLimits()
        limits.dialDeadline = min(limits.dialDeadline, limit)
        let key = try await side.identity()
        let dialer = try SecureDialer(
            identity: key, profile: .localsend, limits: limits, group: .singleton, logger: logger)
        let certificate = target.announcement?.facts[LocalSendFact.fingerprint]
        let connection = try await dialer.dial(
            target.addresses, expecting: target.expected.map { [$0] },
            certificate: certificate.flatMap { CertificateFingerprint(text: $0) }
        ) { channel, _ in
            try HTTPClient.configure(channel, answerLimit: LocalSendLimits.answerBytes)
        }
        contacts?.note(connection.remoteAddress, of: connection.peerID, logger)
        return OpenConnection(peer: connection.peerID, http: connection.output)
    }

    /// Connects to a device without encryption: to the first address that answers.
    func dialPlain(_ target: PeerTarget, within limit: Duration) async throws -> OpenConnection {
        var fault: any Error = SendError(.unreachable, "there is no address to connect to")
        for address in target.addresses {
            do {
                let http = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                    .connectTimeout(TimeAmount(limit))
                    .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                    .connect(host: address.hostText, port: address.port) { channel in
                        channel.eventLoop.makeCompletedFuture {
                            try HTTPClient.configure(channel, answerLimit: LocalSendLimits.answerBytes)
                        }
                    }
                return OpenConnection(peer: target.unprovenPeer(at: address), http: http)
            } catch {
                let cause = (error as? NIOConnectionError)?.connectionErrors.first?.error ?? error
                fault = SendError(
                    .unreachable, "cannot connect: \(DialError.Failure(address: address, cause: cause))")
            }
        }
        throw fault
    }

    // MARK: Devices

    /// Where a device that has announced itself can be asked: at the address of its datagram only.
    /// - Returns: nil for a device without a port or a known protocol.
    func target(of device: LocalSendDevice, at datagram: MulticastDatagram) -> PeerTarget? {
        target(of: device, at: DialAddress(host: datagram.source.host, port: 0, scopeID: datagram.source.scope))
    }

    /// - Parameter address: seen by this side; its port is replaced by the device's.
    func target(of device: LocalSendDevice, at address: DialAddress) -> PeerTarget? {
        guard let scheme = device.scheme, let port = device.port, port > 0 else { return nil }
        var address = address
        address.port = Int(port)
        return PeerTarget(
            dialect, addresses: [address],
            announcement: .init(
                instance: device.fingerprint,
                facts: [LocalSendFact.fingerprint: device.fingerprint, LocalSendFact.scheme: scheme.rawValue]))
    }
}

/// The names of the facts about a device in its announcement.
enum LocalSendFact {
    static let fingerprint = "fingerprint"
    static let scheme = "protocol"
}

extension PeerTarget {
    /// The device at an address as one that proves nothing: known by the text that it gives for itself, which is the same
    /// at all its addresses, or else by the address.
    fileprivate func unprovenPeer(at address: DialAddress) -> PeerID {
        let text = announcement?.facts[LocalSendFact.fingerprint] ?? ""
        return .unproven(.localsend, seed: Array((text.isEmpty ? "\(address)" : "fingerprint \(text)").utf8))
    }

    /// The same after the device has answered: its own answer at the address counts, and no datagram.
    func confirmed(by device: LocalSendDevice, as peer: PeerID) -> (peer: PeerID, target: PeerTarget) {
        guard peer.unprovenBy != nil, let address = addresses.first else { return (peer, expecting(peer)) }
        var target = self
        target.announcement?.instance = device.fingerprint
        target.announcement?.facts[LocalSendFact.fingerprint] = device.fingerprint
        let peer = target.unprovenPeer(at: address)
        return (peer, target.expecting(peer))
    }

    /// Whether the device says that it does not encrypt.
    var isPlain: Bool { announcement?.facts[LocalSendFact.scheme] == LocalSendDevice.Scheme.http.rawValue }
}
