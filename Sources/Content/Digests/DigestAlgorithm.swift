/// A checksum algorithm. The raw value is the name on the wire and in text; it never changes meaning.
package enum DigestAlgorithm: String, Sendable, Codable, CaseIterable {
    /// XXH3 with 128 bits and seed 0: guards against faults, not against enemies, at memory speed.
    // The name has an underscore because 3 and 128 would run together without it.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    case xxh3_128 = "xxh3-128"

    /// SHA-256 (FIPS 180-4), a digest that other tools can check, and of which nobody can make two contents with one.
    case sha256 = "sha-256"

    /// The algorithm of every digest that stands instead of bytes.
    package static let lasting = DigestAlgorithm.sha256

    /// Length of a digest of this algorithm, in bytes.
    package var byteCount: Int {
        switch self {
        case .xxh3_128: 16
        case .sha256: 32
        }
    }
}
