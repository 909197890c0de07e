internal import CAvahi
internal import Glibc

/// Finds out whether this machine's own packet filters let multicast DNS through: it asks a question on a link and listens
/// for that question.
///
/// The kernel gives the programs of the sending machine a copy of each multicast datagram. The copy passes the filters
/// for outgoing datagrams, and those for incoming ones of the same interface.
package enum MulticastEcho {
    /// Questions that are sent on each link: one datagram may be lost.
    private static let attempts = 2

    /// Blocks until every link has answered, at most for `limit`.
    ///
    /// - Returns: the links that carried the question back.
    /// - Throws: ``DiscoveryError`` `.responderUnavailable` if UDP port 5353 cannot be shared: another program has it
    ///   alone.
    package static func heard(on links: [LocalLink], within limit: Duration) throws(DiscoveryError) -> Set<LocalLink> {
        var questions: [Question] = []
        defer { for question in questions { question.close() } }
        for link in links { if let question = try Question(link) { questions.append(question) } }
        var heard: Set<LocalLink> = []
        for _ in 0..<attempts where heard.count < questions.count {
            for question in questions where !heard.contains(question.link) { question.ask() }
            let end = ContinuousClock.now + limit / attempts
            var isOver = false
            // Once more after the end: this process may have stood still since it asked.
            while heard.count < questions.count, !isOver {
                isOver = ContinuousClock.now >= end
                var polls = questions.map { pollfd(fd: $0.listener, events: Int16(POLLIN), revents: 0) }
                _ = poll(&polls, nfds_t(polls.count), 20)
                for question in questions where question.hears() { heard.insert(question.link) }
            }
        }
        return heard
    }

    /// One question on one link, with a socket to send it and a socket to hear it.
    private struct Question {
        let link: LocalLink
        let listener: Int32
        private let sender: Int32
        private let bytes: [UInt8]
        private let group: ResolvedEndpoint

        /// Nil if the link has no address, or has gone.
        init?(_ link: LocalLink) throws(DiscoveryError) {
            guard let address = link.addresses.first(where: { $0.family == .ipv4 }) ?? link.addresses.first else {
                return nil
            }
            let isIPv4 = address.family == .ipv4
            let host = isIPv4 ? "224.0.0.251" : "ff02::fb%\(link.interface.name)"
            guard let group = ResolvedEndpoint(host, "5353"),
                let any = ResolvedEndpoint(isIPv4 ? "0.0.0.0" : "::", "5353")
            else {
                return nil
            }
            let family = isIPv4 ? AF_INET : AF_INET6
            let kind = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
            listener = socket(family, kind, 0)
            sender = socket(family, kind, 0)
            self.link = link
            self.group = group
            bytes = Self.question(number: .random(in: 1 ... .max))
            Self.set(listener, SOL_SOCKET, SO_REUSEADDR, Int32(1))
            Self.set(listener, SOL_SOCKET, SO_REUSEPORT, Int32(1))
            if !isIPv4 { Self.set(listener, Int32(IPPROTO_IPV6), IPV6_V6ONLY, Int32(1)) }
            guard any.use({ bind(listener, $0, $1) }) == 0 else {
                let reason = String(cString: strerror(errno))
                close()
                throw DiscoveryError(.responderUnavailable, cause: "UDP port 5353: \(reason)")
            }
            let index = Int32(bitPattern: link.interface.index)
            if isIPv4 {
                var membership = ip_mreqn()
                inet_pton(AF_INET, "224.0.0.251", &membership.imr_multiaddr)
                membership.imr_ifindex = index
                Self.set(listener, Int32(IPPROTO_IP), IP_ADD_MEMBERSHIP, membership)
                Self.set(sender, Int32(IPPROTO_IP), IP_MULTICAST_IF, membership)
                // Responders may ignore any other number of hops (RFC 6762, 11).
                Self.set(sender, Int32(IPPROTO_IP), IP_MULTICAST_TTL, Int32(255))
            } else {
                var membership = ipv6_mreq()
                inet_pton(AF_INET6, "ff02::fb", &membership.ipv6mr_multiaddr)
                membership.ipv6mr_interface = link.interface.index
                Self.set(listener, Int32(IPPROTO_IPV6), IPV6_JOIN_GROUP, membership)
                Self.set(sender, Int32(IPPROTO_IPV6), IPV6_MULTICAST_IF, index)
                Self.set(sender, Int32(IPPROTO_IPV6), IPV6_MULTICAST_HOPS, Int32(255))
            }
        }

        func close() {
            _ = Glibc.close(listener)
            _ = Glibc.close(sender)
        }

        func ask() {
            _ = group.use { place, size in
                Int32(sendto(sender, bytes, bytes.count, Int32(MSG_NOSIGNAL), place, size))
            }
        }

        /// Reads the datagrams that have come.
        /// - Returns: whether the question is one of them.
        func hears() -> Bool {
            var buffer = [UInt8](repeating: 0, count: 9_000)
            var isHeard = false
            while true {
                let count = recv(listener, &buffer, buffer.count, 0)
                guard count >= 0 else { return isHeard }
                if buffer.prefix(count).elementsEqual(bytes) { isHeard = true }
            }
        }

        private static func set<Value>(_ file: Int32, _ level: Int32, _ option: Int32, _ value: Value) {
            withUnsafeBytes(of: value) { _ = setsockopt(file, level, option, $0.baseAddress, socklen_t($0.count)) }
        }

        /// One question for the services of Waft (RFC 1035, 4.1; RFC 6763, 4).
        /// - Parameter number: identifies it; responders do not look at it.
        private static func question(number: UInt16) -> [UInt8] {
            let header = [UInt8(number >> 8), UInt8(number & 0xFF), 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]
            let name = ["_waft", "_tcp", "local", ""].flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
            return header + name + [0, 12, 0, 1]
        }
    }
}

/// An address and a port, as system calls take them.
private struct ResolvedEndpoint {
    private let bytes: [UInt8]

    /// - Parameter host: an address in presentation form.
    init?(_ host: String, _ port: String) {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
        hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, port, &hints, &list) == 0, let first = list?.pointee else { return nil }
        defer { freeaddrinfo(list) }
        bytes = Array(UnsafeRawBufferPointer(start: first.ai_addr, count: Int(first.ai_addrlen)))
    }

    func use(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        bytes.withUnsafeBytes { raw in
            guard let start = raw.baseAddress else { return -1 }
            // A copy in memory that is aligned for any kind of address.
            var storage = sockaddr_storage()
            memcpy(&storage, start, raw.count)
            return withUnsafePointer(to: &storage) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(raw.count)) }
            }
        }
    }
}
