/// A text document with its sum in a last line of its own, by which any change to it is noticed:
///
/// ```
/// {"version":2,…}
/// {"sum":"xxh3-128:0123456789abcdef0123456789abcdef"}
/// ```
///
/// Against faults of disks and programs, not against people: anybody can compute the sum.
package enum SummedDocument {
    package enum Reading: Hashable, Sendable {
        /// The document without the line, which fits.
        case whole([UInt8])
        /// There is no such line at the end.
        case unsummed
        /// The line does not fit what is before it.
        case damaged
    }

    private static let beginning = Array("{\"sum\":\"".utf8)

    /// - Parameter document: ends with a line end.
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
