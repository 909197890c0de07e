/// A text document whose last line is a checksum of all lines before it:
///
/// ```
/// {"version":2,…}
/// {"sum":"xxh3-128:0123456789abcdef0123456789abcdef"}
/// ```
///
/// It detects faults of disks and programs. It does not protect against people: anyone can compute the checksum.
package enum SummedDocument {
    package enum Reading: Hashable, Sendable {
        /// The checksum is right. This is the document without the checksum line.
        case whole([UInt8])
        /// The last line is no checksum.
        case unsummed
        /// The checksum does not match the document.
        case damaged
    }

    private static let beginning = Array("{\"sum\":\"".utf8)

    /// - Parameter document: must end with a newline.
    package static func adding(to document: [UInt8]) -> [UInt8] { document + line(document[...]) }

    package static func reading(_ bytes: [UInt8]) -> Reading {
        let newline = UInt8(ascii: "\n")
        let start = bytes.dropLast().lastIndex(of: newline).map { $0 + 1 } ?? 0
        guard bytes[start...].starts(with: beginning) else { return .unsummed }
        return bytes[start...].elementsEqual(line(bytes[..<start])) ? .whole(Array(bytes[..<start])) : .damaged
    }

    private static func line(_ document: ArraySlice<UInt8>) -> [UInt8] {
        beginning + Array("\(Digest.of(.xxh3_128, document))\"}\n".utf8)
    }
}
