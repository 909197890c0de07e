internal import Glibc
internal import NIOCore

/// A possible address of a peer: an IP address or a name, and a port.
package struct DialAddress: Hashable, Sendable {
    /// An IPv4 or IPv6 address, or a host name.
    package var host: String
    /// A TCP port, 1 to 65535; with any other port there is no address.
    package var port: Int
    /// Index of the network interface for a link-local IPv6 address; nil or 0 for none.
    package var scopeID: UInt32?

    package init(host: String, port: Int, scopeID: UInt32? = nil) {
        self.host = host
        self.port = port
        self.scopeID = scopeID
    }

    /// The host, with the scope of a link-local address as the system reads it.
    package var hostText: String {
        guard let scopeID, scopeID > 0, host.contains(":"), !host.contains("%") else { return host }
        return "\(host)%\(scopeID)"
    }

    /// The address, if `host` is an IP address and not a name.
    var literal: SocketAddress? {
        guard (1...Int(UInt16.max)).contains(port) else { return nil }
        return try? SocketAddress(ipAddress: hostText, port: port)
    }

    /// The addresses that the system's resolver returns for `host`. Blocks.
    func resolve() throws -> [SocketAddress] {
        guard (1...Int(UInt16.max)).contains(port) else { return [] }
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let result = getaddrinfo(host, nil, &hints, &list)
        guard result == 0 else { throw NameResolutionError(reason: String(cString: gai_strerror(result))) }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var entry = list
        while let current = entry {
            if let address = Self.address(of: current.pointee, port: port) { addresses.append(address) }
            entry = current.pointee.ai_next
        }
        return addresses
    }

    /// The IP addresses of a host's name, without zones, as the system's resolver knows them; empty if it does not know
    /// the name. Blocks.
    package static func addresses(ofHost name: String) -> [String] {
        let known = (try? DialAddress(host: name, port: 1).resolve()) ?? []
        return known.compactMap { $0.ipAddress.map(withoutZone) }
    }

    /// An IP address without the zone of a link-local one.
    package static func withoutZone(_ host: String) -> String { String(host.prefix { $0 != "%" }) }

    /// Converts the address through its text form, which contains the scope.
    private static func address(of entry: addrinfo, port: Int) -> SocketAddress? {
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let result = getnameinfo(
            entry.ai_addr, entry.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
        guard result == 0 else { return nil }
        let host = text.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } }
        return host.flatMap { try? SocketAddress(ipAddress: $0, port: port) }
    }
}

extension DialAddress: CustomStringConvertible {
    package var description: String {
        let scope = scopeID.flatMap { $0 == 0 || host.contains("%") ? nil : "%" + Self.interfaceName($0) } ?? ""
        return host.contains(":") ? "[\(host)\(scope)]:\(port)" : "\(host):\(port)"
    }

    private static func interfaceName(_ index: UInt32) -> String {
        var name = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
        guard if_indextoname(index, &name) != nil else { return "\(index)" }
        return name.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } } ?? "\(index)"
    }
}

/// A host name for which the system's resolver has no address.
struct NameResolutionError: Error, CustomStringConvertible {
    let reason: String

    var description: String { reason }
}
