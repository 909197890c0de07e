/// A peer on the radio that a backend has heard.
package struct HeardPeer: Hashable, Sendable {
    /// The six bytes of its hardware address, which it changes often.
    package var bytes: [UInt8]
    /// The strength of its signal in dBm; nil if it is not known.
    package var strength: Int?

    /// The most that are used.
    static let maximum = 256

    /// Twelve hexadecimal digits.
    package var digits: String { bytes.map(Self.digits).joined() }

    /// Its link-local address (RFC 4291, appendix A), without a zone.
    package var host: String {
        let b = bytes
        let groups = [[b[0] ^ 2, b[1]], [b[2], 0xFF], [0xFE, b[3]], [b[4], b[5]]]
        return "fe80::" + groups.map { String(UInt16($0[0]) << 8 | UInt16($0[1]), radix: 16) }.joined(separator: ":")
    }

    /// The peers in an answer, the strongest first. Lines of another form are passed over.
    static func all(_ bytes: [UInt8]) -> [HeardPeer] {
        var seen: Set<[UInt8]> = []
        let peers = bytes.split(separator: UInt8(ascii: "\n")).compactMap(HeardPeer.init).filter {
            seen.insert($0.bytes).inserted
        }
        return Array(peers.sorted { $0.strength ?? .min > $1.strength ?? .min }.prefix(maximum))
    }

    /// - Parameter line: `MAC rssi=N` or `MAC rssi=?`.
    init?(_ line: ArraySlice<UInt8>) {
        let words = line.split(separator: UInt8(ascii: " "))
        guard words.count == 2, words[1].starts(with: "rssi=".utf8) else { return nil }
        let pairs = words[0].split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        bytes = pairs.compactMap { pair in
            // A number may have a sign, which is no digit.
            guard pair.count == 2, pair.first != UInt8(ascii: "+"), pair.first != UInt8(ascii: "-") else { return nil }
            return UInt8(String(decoding: pair, as: UTF8.self), radix: 16)
        }
        // An address of one host, and one that is set.
        guard pairs.count == 6, bytes.count == 6, bytes[0] & 1 == 0, bytes.contains(where: { $0 != 0 }) else {
            return nil
        }
        let value = String(decoding: words[1].dropFirst(5), as: UTF8.self)
        strength = Int(value)
        guard value == "?" || strength.map({ (-200...100).contains($0) }) == true else { return nil }
    }

    private static func digits(_ byte: UInt8) -> String {
        let text = String(byte, radix: 16)
        return byte < 16 ? "0" + text : text
    }
}
