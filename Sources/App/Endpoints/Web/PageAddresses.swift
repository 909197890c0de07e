import Discovery
import Glibc
import NIOCore
import SecureTransport

/// The present names and addresses of this machine.
struct PageAddresses {
    /// IP addresses; the one that guests reach most probably comes first.
    private(set) var shown: [String] = []
    /// All names and addresses, shown or not.
    private(set) var names: CertificateNames

    /// - Parameter denied: interfaces whose addresses few others reach.
    init(denied: InterfacePatterns) {
        let devices = (try? System.enumerateDevices()) ?? []
        let found = devices.compactMap { device -> (rank: Int, text: String)? in
            guard let address = device.address, let text = address.ipAddress, !text.contains("%"),
                !text.hasPrefix("fe80:")
            else { return nil }
            let isLoopback = ["127.", "::1"].contains { text.hasPrefix($0) }
            let isFar = denied.contains(device.name) || text.hasPrefix("169.254.")
            let family = address.protocol == .inet ? 0 : 1
            return (isLoopback ? 4 : isFar ? 2 + family : family, text)
        }
        let reachable = found.filter { $0.rank < 2 }
        let best = reachable.isEmpty ? found : reachable
        // The order of the system stays among equals.
        shown = best.enumerated().sorted { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }
            .map(\.element.text)
        let host = Self.hostName
        let hosts = host.map { [$0, $0.split(separator: ".")[0] + ".local"] } ?? []
        names = CertificateNames(hosts: hosts + ["localhost"], addresses: found.map(\.text))
    }

    /// Each name and address with the port, as browsers send it in `Host`.
    /// - Parameter isPlain: whether the scheme is HTTP.
    func authorities(port: Int, isPlain: Bool) -> Set<String> {
        let all = names.hosts.map { $0.lowercased() } + names.addresses.map(Self.bracketed)
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
