import Discovery
import Glibc
import NIOCore
import SecureTransport

/// The present names and addresses of this machine.
struct PageAddresses {
    /// An address of this machine.
    struct Own {
        let interface: String
        /// Without a zone.
        let text: String
        /// Whether the interface is up, with its cable or its radio.
        let isConnected: Bool

        fileprivate var isIPv4: Bool { !text.contains(":") }
        fileprivate var isLoopback: Bool { text.hasPrefix("127.") || text == "::1" }
        /// Of IPv6: browsers do not take such an address, because it needs a zone.
        fileprivate var isLinkLocal: Bool { text.hasPrefix("fe80:") }
    }

    /// IP addresses; the one that guests reach most probably comes first. Those of loopback stand here only if there are
    /// no others.
    let shown: [String]
    /// The names and addresses in the certificate, shown or not.
    let names: CertificateNames
    /// The addresses that the page is at besides, for programs.
    private let linkLocal: [String]

    /// - Parameter denied: interfaces whose addresses few others reach.
    init(denied: InterfacePatterns, own: [Own] = Self.present) {
        let found = own.filter { !$0.isLinkLocal }
        let ranked = found.filter { $0.isLoopback || $0.isConnected }.map { address in
            let isFar = denied.contains(address.interface) || address.text.hasPrefix("169.254.")
            let family = address.isIPv4 ? 0 : 1
            return (rank: address.isLoopback ? 4 : isFar ? 2 + family : family, text: address.text)
        }
        let best = [0..<2, 2..<4, 4..<5].lazy.map { ranks in ranked.filter { ranks.contains($0.rank) } }
            .first { !$0.isEmpty }
        // The order of the system stays among equals.
        shown = (best ?? []).enumerated().sorted { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }
            .map(\.element.text)
        let host = Self.hostName
        let hosts = host.map { [$0, $0.split(separator: ".")[0] + ".local"] } ?? []
        names = CertificateNames(hosts: hosts + ["localhost"], addresses: found.map(\.text))
        linkLocal = own.filter(\.isLinkLocal).map(\.text)
    }

    private static var present: [Own] {
        let connected = NetworkPresence.interfaces
        return ((try? System.enumerateDevices()) ?? []).compactMap { device in
            guard let text = device.address?.ipAddress else { return nil }
            return Own(
                interface: device.name, text: String(text.prefix { $0 != "%" }),
                isConnected: connected?.contains(device.name) ?? true)
        }
    }

    /// Each name and address with the port, as browsers send it in `Host`.
    /// - Parameter isPlain: whether the scheme is HTTP.
    func authorities(port: Int, isPlain: Bool) -> Set<String> {
        let all = names.hosts.map { $0.lowercased() } + (names.addresses + linkLocal).map(Self.bracketed)
        let standard = isPlain ? 80 : 443
        return Set(all.map { "\($0):\(port)" } + (port == standard ? all : []))
    }

    /// The shown addresses with the port.
    func shown(port: Int) -> [String] { shown.map { "\(Self.bracketed($0)):\(port)" } }

    private static func bracketed(_ address: String) -> String {
        address.contains(":") ? "[\(address)]" : address
    }

    private static var hostName: String? {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return nil }
        let name = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return name.isEmpty || name.hasPrefix(".") ? nil : name
    }
}
