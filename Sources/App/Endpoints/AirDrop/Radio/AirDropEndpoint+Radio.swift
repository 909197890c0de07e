import AirDropDialect
import Contacts
import Discovery
import Glibc
import Logging
import NIOCore
import NIOPosix
import SecureTransport
import Sharing

// AirDrop on the radio link: another port, peers that are asked at addresses which the radio has heard, and sockets that
// end by a reset, since a phone that has left acknowledges nothing.

extension AirDropEndpoint {
    /// Pause before the port of the radio link is tried again, and before the radio is asked again for peers.
    private static let retryInterval: Duration = .seconds(10)
    private static let hearingInterval: Duration = .seconds(3)

    /// The place where a backend announces this machine; nil while it need not be listened at.
    private func radioPlace(_ host: ReceivingHost) -> RadioLink? {
        isWanted(host) ? RadioLink.current : nil
    }

    private func isWanted(_ host: ReceivingHost) -> Bool {
        host.visibility.visibility == .everyone && (try? radio.backend) != nil
    }

    package var absenceAdvice: [String] {
        (try? radio.backend) == nil
            ? []
            : [
                "an iPhone: waft visible everyone --for 10m here, and the share sheet open there (AirDrop: Everyone for 10 "
                    + "Minutes)"
            ]
    }

    /// Listens at the port that backends announce, while they may, until the task is cancelled. A fault is told, and ends
    /// nothing else.
    func listenOnRadio(_ host: ReceivingHost, _ serve: @escaping @Sendable (SecureListener) async throws -> Void) async
    {
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                // Before the place: a change that comes meanwhile is not missed.
                let (isWanted, changes) = (isWanted(host), isWanted(host) ? LinkChanges() : nil)
                let place = radioPlace(host)
                var listener: SecureListener?
                if let place {
                    do {
                        let open = try await bind(place)
                        listener = open
                        group.addTask { try? await serve(open) }
                        radio.listening(fault: nil)
                        logger.info("listening on the radio link", metadata: ["port": "\(open.port)"])
                    } catch {
                        // A word in the status; the doctor names the program.
                        if radio.listening(fault: "\(error)") {
                            logger.warning("not reachable on the radio link", metadata: ["reason": "\(error)"])
                        }
                    }
                }
                let isWaiting = place != nil && listener == nil
                await host.visibility.run(until: { _ in
                    self.isWanted(host) != isWanted || self.radioPlace(host) != place
                }) {
                    await withTaskGroup(of: Void.self) { group in
                        group.addTask {
                            for await _ in changes?.stream ?? .never where self.radioPlace(host) != place { break }
                        }
                        if isWaiting { group.addTask { try? await Task.sleep(for: Self.retryInterval) } }
                        await group.next()
                        group.cancelAll()
                    }
                }
                // Connections that are being served go on.
                await listener?.stopAccepting()
            }
            group.cancelAll()
        }
    }

    private func bind(_ place: RadioLink) async throws -> SecureListener {
        let configuration = configuration(
            host: "\(place.host)%\(RadioBackend.interface)", port: RadioBackend.port)
        return try await SecureListener.bind(configuration, group: .singleton, logger: logger)
    }

    /// Peers that the radio hears, each time that they change, until the task is cancelled.
    func heardPeers(_ changed: ([HeardPeer], RadioLink) -> Void) async {
        while !Task.isCancelled {
            if let link = RadioLink.current, let backend = try? radio.backend,
                let peers = try? await radio.peers(of: backend)
            {
                changed(peers, link)
            }
            do { try await Task.sleep(for: Self.hearingInterval) } catch { return }
        }
    }

    /// The target of a peer that was heard: at the port of Apple's receivers, and at that of backends.
    static func target(of peer: HeardPeer, on link: RadioLink) -> PeerTarget {
        let ports = [Int(AirDropDialect.defaultPort), RadioBackend.port]
        return PeerTarget(
            .airdrop, addresses: ports.map { DialAddress(host: peer.host, port: $0, scopeID: link.index) },
            announcement: .init(instance: "heard-" + peer.digits, facts: [:]))
    }
}

extension AsyncStream {
    fileprivate static var never: AsyncStream { AsyncStream { _ in } }
}

extension PeerTarget {
    /// The addresses on the radio link, as hosts.
    func radioHosts(_ index: UInt32 = RadioLink.index) -> Set<String> {
        guard index != 0 else { return [] }
        return Set(addresses.filter { $0.scopeID == index }.map(\.host))
    }

    /// Whether the peer is reached on the radio link alone.
    package var isOnRadio: Bool {
        let index = RadioLink.index
        return index != 0 && !addresses.isEmpty && addresses.allSatisfy { $0.scopeID == index }
    }
}

/// For phones that listen in bursts: TCP sends again each second, and does not give up before the conversation does.
///
/// By the name of the option, in milliseconds. Kernels before 6.15 do not know TCP_RTO_MAX_MS (`linux/tcp.h`): with them a
/// pause of the phone costs several times its length.
private let patientTCP: [(name: CInt, value: CInt)] = [(TCP_USER_TIMEOUT, 600_000), (44, 1_000)]

extension Channel {
    /// Runs a conversation. With a peer on the radio link, it ends when the link is gone, and its socket ends by a reset: a
    /// phone that has left acknowledges nothing, and would keep it for minutes.
    func onRadioToo<Result: Sendable>(_ body: () async throws -> Result) async rethrows -> Result {
        let index = RadioLink.index
        guard index != 0, scope == index, let socket = self as? any SocketOptionProvider else {
            return try await body()
        }
        try? await socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        for (name, value) in patientTCP {
            try? await socket.unsafeSetSocketOption(level: .tcp, name: .init(rawValue: name), value: value).get()
        }
        async let _: Void = closing(withoutLink: index)
        return try await body()
    }

    private func closing(withoutLink index: UInt32) async {
        await RadioLink.gone(index)
        guard !Task.isCancelled else { return }
        closeInHurry()
    }

    /// The zone of the other side's address; nil for one without.
    private var scope: UInt32? {
        remoteAddress?.withSockAddr { address, size in
            guard size >= MemoryLayout<sockaddr_in6>.size, address.pointee.sa_family == sa_family_t(AF_INET6) else {
                return nil
            }
            return UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in6.self).sin6_scope_id
        }
    }
}
