/// The part of a file that a client asks for (RFC 9110, section 14).
package enum ByteRange: Sendable, Equatable {
    /// No range, several, or one that cannot be read: the client gets all of it.
    case whole
    /// The bytes from `start` to `end`, which is not a part of it.
    case part(start: UInt64, end: UInt64)
    case unsatisfiable

    /// - Parameters:
    ///   - header: the value of `Range`.
    ///   - size: the bytes of the file.
    package init(_ header: String?, size: UInt64) {
        self = .whole
        guard let header, header.lowercased().hasPrefix("bytes=") else { return }
        let sides = header.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
        guard sides.count == 2, sides.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }) else { return }
        switch (sides[0].isEmpty, sides[1].isEmpty) {
        case (true, true): return
        case (true, false):
            let count = UInt64(sides[1]) ?? .max
            self = count == 0 || size == 0 ? .unsatisfiable : .part(start: size - min(count, size), end: size)
        case (false, _):
            let start = UInt64(sides[0]) ?? .max
            let last = sides[1].isEmpty ? .max : UInt64(sides[1]) ?? .max
            guard start <= last else { return }
            self = start < size ? .part(start: start, end: last < size ? last + 1 : size) : .unsatisfiable
        }
    }
}
