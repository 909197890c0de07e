package import Logging
internal import Streams

/// Sends and hears datagrams of a multicast group, on every interface of this machine that can multicast.
///
/// It follows the interfaces: when one appears, or gets an address, the group is joined there. Loopback is joined while no
/// other interface is. A group that cannot be joined is a state (``MulticastState/obstacle``), which the next change
/// of the network may end. The group waits for the network and costs nothing while nothing happens.
package actor MulticastGroup {
    private let place: MulticastAddresses
    private var denied: InterfacePatterns
    private let logger: Logger
    private let loop: AvahiLoop

    private var network: InterfaceMonitor?
    private var sockets: [MulticastSocket] = []
    private var rate = RateWindow<[UInt8]>.ofDatagrams
    private var present = MulticastState()
    /// Where the group is joined; nil before the first try.
    private var knownAddresses: Set<InterfaceAddress>?

    private let heard = Broadcast<MulticastDatagram>(buffer: .bufferingOldest(DiscoveryLimits.waitingDatagrams))
    private let standings = Broadcast<MulticastState>(buffer: .bufferingNewest(1))
    private let arrivals = Broadcast<Void>(buffer: .bufferingNewest(1))

    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// Datagrams taken before the loop's other work has its turn.
    private static let datagramsPerTurn = 64

    /// - Parameter denied: names of interfaces that are not used.
    /// - Throws: ``DiscoveryError`` `.noResources`.
    package init(
        _ place: MulticastAddresses, denied: InterfacePatterns, logger: Logger = Logger(label: "waft.discovery")
    ) throws(DiscoveryError) {
        (self.place, self.denied, self.logger) = (place, denied, logger)
        loop = try AvahiLoop(name: "waft-multicast")
    }

    // Its parts belong to the loop's thread.
    isolated deinit {
        sockets = []
        network = nil
    }
}

// MARK: - For the owner

extension MulticastGroup {
    /// Joins the group, if it is not joined already.
    ///
    /// - Returns: where it is joined now.
    @discardableResult
    package func join() -> MulticastState {
        guard network == nil else { return present }
        network = InterfaceMonitor(loop: loop) { [unowned self] in assumeIsolated { $0.refresh() } }
        refresh()
        return present
    }

    /// Leaves the group. The streams continue; they have news again after the next `join`.
    package func leave() {
        network = nil
        sockets = []
        knownAddresses = nil
        settle(MulticastState())
    }

    /// Uses no interfaces with such names from now on.
    package func deny(_ interfaces: InterfacePatterns) {
        guard denied != interfaces else { return }
        denied = interfaces
        if network != nil { refresh() }
    }

    /// Where the group is joined.
    package var standing: MulticastState { present }

    /// Where the group is joined: the present state first, then each change. For a slow watcher only the newest.
    package func watchStanding() -> AsyncStream<MulticastState> { standings.watch(after: [present]) }

    /// The datagrams from now on, this machine's own among them, from addresses near this machine only. Larger and more
    /// frequent ones than ``DiscoveryLimits`` allows are dropped, and the newest ones while
    /// ``DiscoveryLimits/waitingDatagrams`` wait for this watcher.
    package nonisolated func datagrams() -> AsyncStream<MulticastDatagram> { heard.watch() }

    /// Reports that the group has been joined on an interface with an address that is new: machines there have not heard
    /// from this one. Nothing is reported for the addresses of the first `join`.
    package nonisolated func newAddresses() -> AsyncStream<Void> { arrivals.watch() }

    /// Sends to the group, on each joined interface and by each family that it has. It may get lost, as all datagrams may.
    ///
    /// - Parameter bytes: at most ``DiscoveryLimits/datagramBytes``; beyond it nothing is sent.
    /// - Returns: the number of datagrams that left.
    @discardableResult
    package func send(_ bytes: [UInt8]) -> Int {
        guard bytes.count <= DiscoveryLimits.datagramBytes else { return 0 }
        return sockets.reduce(0) { $0 + $1.send(bytes) }
    }

    /// The networks of this machine now.
    package var ownNetworks: OwnNetworks { OwnNetworks(network?.snapshot ?? .current(), denied: denied) }

    /// Whether an address may be connected to because of a datagram from there: see ``OwnNetworks/isOwnSubnet(_:)``.
    ///
    /// - Parameter host: in presentation form.
    package func isOwnSubnet(_ host: String) -> Bool { ownNetworks.isOwnSubnet(host) }
}

// MARK: - Interfaces

extension MulticastGroup {
    /// Joins the present interfaces, and reports the difference.
    private func refresh() {
        guard let snapshot = network?.snapshot else { return }
        let used = usedAddresses(snapshot)
        var interfaces: Set<UInt32> = []
        var obstacles: [String] = []
        for family in [ServiceAddress.Family.ipv4, .ipv6] {
            let own = used.filter { $0.bytes.count == (family == .ipv4 ? 4 : 16) }
            let wanted = Dictionary(grouping: own, by: \.interface).compactMapValues { addresses in
                addresses.map(\.bytes).min { $0.lexicographicallyPrecedes($1) }
            }
            do throws(DiscoveryError) {
                guard let socket = try socket(family, isWanted: !wanted.isEmpty) else { continue }
                for (index, reason) in socket.join(exactly: wanted) {
                    obstacles.append("\(snapshot.interfaces[index]?.name ?? "\(index)"): \(reason)")
                }
                interfaces.formUnion(socket.joined)
            } catch {
                obstacles.append(error.cause)
            }
        }
        if interfaces.isEmpty, obstacles.isEmpty { obstacles = ["no interface that can multicast is up"] }
        let names = interfaces.compactMap { snapshot.interfaces[$0]?.name }.sorted()
        settle(MulticastState(interfaces: names, obstacle: obstacles.min()))
        let joined = used.filter { interfaces.contains($0.interface) }
        let isNew = knownAddresses.map { !joined.isSubset(of: $0) } ?? false
        knownAddresses = joined
        if isNew { arrivals.send(()) }
    }

    /// The addresses of the interfaces to use: of IPv6 only those that a link has in any case, since others come and go.
    private func usedAddresses(_ snapshot: NetworkSnapshot) -> Set<InterfaceAddress> {
        let allowed = snapshot.usable.filter { index in
            snapshot.interfaces[index].map { !denied.contains($0.name) } ?? false
        }
        let all = snapshot.addresses.filter { allowed.contains($0.interface) }
        let linked = all.filter { address in
            guard snapshot.interfaces[address.interface]?.isLoopback == false else { return false }
            return address.bytes.count == 4 || ServiceAddress.Reach(bytes: address.bytes) == .linkLocal
        }
        guard linked.isEmpty else { return linked }
        // By IPv4 alone: loopback has no route for groups of IPv6.
        return all.filter { $0.bytes.count == 4 && ServiceAddress.Reach(bytes: $0.bytes) == .loopback }
    }

    /// The socket of a family; made if it is wanted, else nil if there is none.
    private func socket(
        _ family: ServiceAddress.Family, isWanted: Bool
    ) throws(DiscoveryError) -> MulticastSocket? {
        if let socket = sockets.first(where: { $0.family == family }) { return socket }
        guard isWanted, let group = place.group(family) else { return nil }
        let socket = try MulticastSocket(group: group, port: place.port)
        // Unowned: the socket and its watch are dropped before the group.
        guard socket.watch(loop, { [unowned self] in assumeIsolated { $0.take(family) } }) else {
            throw DiscoveryError(.noResources, cause: "no memory for Avahi's poll")
        }
        sockets.append(socket)
        return socket
    }

    private func settle(_ new: MulticastState) {
        guard present != new else { return }
        present = new
        logger.debug(
            "multicast changed", metadata: ["interfaces": "\(new.interfaces)", "obstacle": "\(new.obstacle ?? "none")"])
        standings.send(new)
    }
}

// MARK: - Datagrams

extension MulticastGroup {
    private func take(_ family: ServiceAddress.Family) {
        guard let network, let socket = sockets.first(where: { $0.family == family }) else { return }
        let own = OwnNetworks(network.snapshot, denied: denied)
        for _ in 0..<Self.datagramsPerTurn {
            guard let taken = socket.take() else { return }
            // The rate comes after the address: forged addresses from elsewhere use up nothing.
            guard taken.isWhole, own.isOwnSubnet(taken.source), rate.pass(taken.source, at: .now),
                let interface = network.interface(taken.interface), let host = LocalLink.text(taken.source),
                let source = ServiceAddress(bytes: taken.source, host: host, interface: interface, port: taken.port)
            else { continue }
            heard.send(MulticastDatagram(bytes: socket.bytes(of: taken), source: source, interface: interface))
        }
    }
}

extension RateWindow<[UInt8]> {
    /// The datagrams that may pass in each second, by the sender's address in network order.
    static var ofDatagrams: RateWindow {
        RateWindow(
            of: .seconds(1), each: DiscoveryLimits.datagramsPerAddress, inAll: DiscoveryLimits.datagrams)
    }
}
