import Endpoints
import NIOCore

/// Whom a user means by `--to`: an address, or a name that has to be found.
package enum PeerReference: Hashable, Sendable, CustomStringConvertible {
    /// A host with its port: nothing has to be found.
    case address(host: String, port: UInt16)
    /// A peer's name, the beginning of its id, or a host's name.
    case name(String)

    /// Why a text cannot name a peer.
    package struct FormatError: Error, Hashable, CustomStringConvertible {
        package let description: String
    }

    /// Reads `kitchen`, `k7qf-9m2c`, `nas.lan`, `192.168.1.7`, `nas.lan:9238`, `fe80::1%eth0`, `[fd00::1]:9238`.
    /// - Throws: `FormatError` for an empty text, one too long, or a port that is none.
    package init(_ text: String) throws(FormatError) {
        guard !text.isEmpty, text.utf8.count <= 255 else {
            throw FormatError(description: "a peer's name has 1 to 255 bytes")
        }
        let standard = Self.defaultPort
        if text.first == "[", let end = text.lastIndex(of: "]"),
            case let host = String(text[text.index(after: text.startIndex)..<end]), Self.isHost(host)
        {
            let rest = text[text.index(after: end)...]
            self = .address(host: host, port: rest.isEmpty ? standard : try Self.port(rest.dropFirst(), of: text))
        } else if Self.isAddress(text) {
            self = .address(host: text, port: standard)
        } else if let colon = text.lastIndex(of: ":"), text[colon...].dropFirst().utf8.allSatisfy(Self.isDigit) {
            let host = String(text[..<colon])
            let port = try Self.port(text[text.index(after: colon)...], of: text)
            guard !host.isEmpty else { throw FormatError(description: "\(text) names no host before its port") }
            self = .address(host: host, port: port)
        } else {
            self = .name(text)
        }
    }

    /// The port of an address without one.
    static let defaultPort = Endpoints.defaultPort

    package var description: String {
        switch self {
        case .address(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .name(let name): name
        }
    }

    /// Whether a host is an IP address, or can be a name of DNS.
    static func isHost(_ text: String) -> Bool {
        if isAddress(text) { return true }
        let name = text.last == "." ? text.dropLast() : text[...]
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        // A number at the end is an address that is none, such as 300.1.1.1 (RFC 3696, section 2).
        return name.utf8.count <= 253 && labels.last?.allSatisfy(\.isNumber) == false
            && labels.allSatisfy { label in
                (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                    && label.utf8.allSatisfy {
                        isLetterOrDigit($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
                    }
            }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        byte < 0x80 && (Unicode.Scalar(byte).properties.isAlphabetic || isDigit(byte))
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isAddress(_ text: String) -> Bool {
        let bare = text.split(separator: "%", maxSplits: 1).first.map(String.init) ?? text
        return (try? SocketAddress(ipAddress: bare, port: 0)) != nil
    }

    private static func port(_ digits: Substring, of text: String) throws(FormatError) -> UInt16 {
        guard let port = UInt16(digits), port > 0 else {
            throw FormatError(description: "\(text) ends with no port number (1 to 65535)")
        }
        return port
    }
}
