internal import CAvahi
internal import CLinuxShims
internal import Glibc

/// A socket of one address family in a multicast group. Lives and is dropped on the loop's thread.
///
/// It hears only the group, and only on the interfaces that it has joined: other programs of this machine may have joined
/// other interfaces. Or it asks the group from a port of its own, and hears the answers that come to this port.
final class MulticastSocket {
    let family: ServiceAddress.Family
    /// An own address on each interface, in network order, by the interface's index.
    private var addresses: [UInt32: [UInt8]] = [:]
    /// Indexes of interfaces.
    var joined: Set<UInt32> { Set(addresses.keys) }

    private let file: Int32
    /// In network order.
    private let group: [UInt8]
    private let port: UInt16
    private let asks: Bool
    private var watch: ReadWatch?
    /// For the next datagram.
    private var buffer = [UInt8](repeating: 0, count: DiscoveryLimits.datagramBytes)

    /// - Parameters:
    ///   - group: 4 or 16 bytes, in network order.
    ///   - port: that of the group.
    ///   - asks: whether it hears answers to a port of its own, and not the group.
    /// - Throws: ``DiscoveryError`` `.multicastUnavailable`.
    init(group: [UInt8], port: UInt16, asks: Bool = false) throws(DiscoveryError) {
        (self.group, self.port, self.asks) = (group, port, asks)
        family = group.count == 4 ? .ipv4 : .ipv6
        let kind = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        file = socket(family == .ipv4 ? AF_INET : AF_INET6, kind, 0)
        guard file >= 0 else { throw Self.failure(of: family, port) }
        guard configure(), open() else { throw Self.failure(of: family, port) }
    }

    deinit {
        watch = nil
        if file >= 0 { close(file) }
    }

    private static func failure(of family: ServiceAddress.Family, _ port: UInt16) -> DiscoveryError {
        let reason = String(cString: strerror(errno))
        return DiscoveryError(
            .multicastUnavailable, cause: "UDP port \(port) by \(family == .ipv4 ? "IPv4" : "IPv6"): \(reason)")
    }

    private func configure() -> Bool {
        let isShared = asks || set(SOL_SOCKET, SO_REUSEADDR, Int32(1)) && set(SOL_SOCKET, SO_REUSEPORT, Int32(1))
        switch family {
        case .ipv4:
            let level = Int32(IPPROTO_IP)
            return isShared && set(level, IP_PKTINFO, Int32(1)) && set(level, IP_MULTICAST_ALL, Int32(0))
                && set(level, IP_MULTICAST_TTL, Int32(1)) && set(level, IP_MULTICAST_LOOP, Int32(1))
        case .ipv6:
            let level = Int32(IPPROTO_IPV6)
            return isShared && set(level, IPV6_V6ONLY, Int32(1)) && set(level, IPV6_RECVPKTINFO, Int32(1))
                && set(level, IPV6_MULTICAST_ALL, Int32(0)) && set(level, IPV6_MULTICAST_HOPS, Int32(1))
                && set(level, IPV6_MULTICAST_LOOP, Int32(1))
        }
    }

    /// Binds the port. By IPv4 to the group, so that nothing sent to this machine alone comes here, or is taken from
    /// another program; a group of IPv6 would bind to one interface.
    ///
    /// Linux gives a datagram of IPv4 that only one socket should hear to any socket with the same binding, port and user,
    /// if they share the port by SO_REUSEPORT (6.18). So the processes of one user should join the same interfaces.
    private func open() -> Bool {
        let anywhere = [UInt8](repeating: 0, count: group.count)
        return withPlace(family == .ipv4 && !asks ? group : anywhere, port: asks ? 0 : port, interface: 0) {
            bind(file, $0, $1)
        } == 0
    }

    /// Reports that datagrams can be taken.
    /// - Returns: false if there is no memory.
    func watch(_ loop: AvahiLoop, _ onReadable: @escaping () -> Void) -> Bool {
        watch = ReadWatch(loop: loop, file: file, onReadable: onReadable)
        return watch != nil
    }

    // MARK: Interfaces

    /// Joins these interfaces, and leaves all others.
    ///
    /// - Parameter interfaces: an own address on each, in network order, by its index.
    /// - Returns: the reason of each that cannot be joined.
    func join(exactly interfaces: [UInt32: [UInt8]]) -> [UInt32: String] {
        let before = joined
        addresses = interfaces.filter { before.contains($0.key) }
        // An interface that has gone has left by itself.
        for index in before.subtracting(joined) { _ = change(IP_DROP_MEMBERSHIP, IPV6_LEAVE_GROUP, index) }
        var failures: [UInt32: String] = [:]
        for (index, address) in interfaces where !before.contains(index) {
            // EADDRINUSE: this socket is still a member.
            if change(IP_ADD_MEMBERSHIP, IPV6_JOIN_GROUP, index) || errno == EADDRINUSE {
                addresses[index] = address
            } else {
                failures[index] = String(cString: strerror(errno))
            }
        }
        return failures
    }

    private func change(_ option4: Int32, _ option6: Int32, _ index: UInt32) -> Bool {
        switch family {
        case .ipv4:
            return set(Int32(IPPROTO_IP), option4, membership(index))
        case .ipv6:
            var membership = ipv6_mreq()
            withUnsafeMutableBytes(of: &membership.ipv6mr_multiaddr) { $0.copyBytes(from: group) }
            membership.ipv6mr_interface = index
            return set(Int32(IPPROTO_IPV6), option6, membership)
        }
    }

    private func membership(_ index: UInt32) -> ip_mreqn {
        var membership = ip_mreqn()
        withUnsafeMutableBytes(of: &membership.imr_multiaddr) { $0.copyBytes(from: group) }
        membership.imr_ifindex = Int32(bitPattern: index)
        // The source of what is sent: the kernel chooses none for loopback, or one of another interface.
        if let own = addresses[index] {
            withUnsafeMutableBytes(of: &membership.imr_address) { $0.copyBytes(from: own) }
        }
        return membership
    }

    // MARK: Datagrams

    /// Sends to the group on each joined interface. A datagram that the kernel does not take at once is lost.
    ///
    /// - Returns: the number of interfaces on which it left.
    func send(_ bytes: [UInt8]) -> Int {
        joined.sorted().count { index in
            // The scope of the address does the same for IPv6.
            if family == .ipv4, !set(Int32(IPPROTO_IP), IP_MULTICAST_IF, membership(index)) { return false }
            return withPlace(group, port: port, interface: index) {
                Int32(sendto(file, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, $1))
            } >= 0
        }
    }

    /// The ends of a datagram whose bytes are still in the socket's buffer.
    struct Taken {
        let interface: UInt32
        let port: UInt16
        /// In network order, 4 or 16.
        let source: [UInt8]
        /// Maybe more than the buffer has.
        fileprivate let byteCount: Int

        /// Whether the datagram is whole.
        var isWhole: Bool { byteCount <= DiscoveryLimits.datagramBytes }
    }

    /// The next datagram to the group, or to the port that asks, or nil if none waits.
    func take() -> Taken? {
        while true {
            var ends = CLinuxShims_datagram_ends()
            let count = CLinuxShims_take_datagram(file, &buffer, buffer.count, &ends)
            // An error that an earlier datagram caused is reported once.
            if count < 0 {
                if errno == EAGAIN { return nil }
                if errno == EINTR || errno == ECONNREFUSED || errno == EHOSTUNREACH || errno == ENETUNREACH { continue }
                return nil
            }
            let size = Int(ends.address_bytes)
            let isToGroup = withUnsafeBytes(of: ends.destination) { $0.prefix(size).elementsEqual(group) }
            guard isToGroup || asks, joined.contains(ends.interface) else { continue }
            let source = withUnsafeBytes(of: ends.source) { Array($0.prefix(size)) }
            return Taken(interface: ends.interface, port: ends.port, source: source, byteCount: count)
        }
    }

    /// The contents of the datagram that was taken last.
    func bytes(of taken: Taken) -> [UInt8] { Array(buffer.prefix(taken.byteCount)) }

    // MARK: System

    private func set<Value>(_ level: Int32, _ option: Int32, _ value: Value) -> Bool {
        withUnsafeBytes(of: value) { setsockopt(file, level, option, $0.baseAddress, socklen_t($0.count)) } == 0
    }

    /// - Parameter interface: the scope of an IPv6 address; 0 for none.
    private func withPlace(
        _ address: [UInt8], port: UInt16, interface: UInt32, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        switch family {
        case .ipv4:
            var place = sockaddr_in()
            place.sin_family = sa_family_t(AF_INET)
            place.sin_port = port.bigEndian
            withUnsafeMutableBytes(of: &place.sin_addr) { $0.copyBytes(from: address) }
            return use(place, body)
        case .ipv6:
            var place = sockaddr_in6()
            place.sin6_family = sa_family_t(AF_INET6)
            place.sin6_port = port.bigEndian
            place.sin6_scope_id = interface
            withUnsafeMutableBytes(of: &place.sin6_addr) { $0.copyBytes(from: address) }
            return use(place, body)
        }
    }

    private func use<Place>(_ place: Place, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        withUnsafePointer(to: place) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<Place>.size)) }
        }
    }
}

/// Reports that a descriptor can be read. Lives and is dropped on the loop's thread.
final class ReadWatch {
    private let watch: AvahiObject

    /// - Parameters:
    ///   - file: open until this watch is dropped.
    ///   - onReadable: called on the loop's thread, again and again while there is something to read.
    /// - Returns: nil if there is no memory.
    init?(loop: AvahiLoop, file: Int32, onReadable: @escaping () -> Void) {
        let relay = Relay<Void>(loop: loop, deliver: onReadable)
        let poll = loop.pollAPI
        let pointer = poll.pointee.watch_new(
            poll, file, AVAHI_WATCH_IN, { _, _, _, userdata in Relay<Void>.from(userdata)?.post(()) }, relay.userdata)
        guard let pointer else { return nil }
        watch = AvahiObject(owning: pointer, parent: nil, relay: relay) { poll.pointee.watch_free($0) }
    }
}
