import Glibc
import NIOCore

/// Reads a form in parts (`multipart/form-data`, RFC 7578) while it comes. Used by one task.
struct MultipartReader {
    /// The head of a part.
    struct Part: Equatable {
        var name = ""
        /// Of a file; nil for a field.
        var fileName: String?
        var type: String?
    }

    struct Malformed: Error, Equatable { let reason: String }

    private static let headBytes = 4 << 10
    private static let lineEnd = Array("\r\n".utf8)
    private static let boundaryBytes = 1...70

    /// With the line's end before it.
    private let delimiter: [UInt8]
    private var buffer: ByteBuffer
    private var hasBegun = false
    /// Whether the delimiter after the current part has been read.
    private var isAtDelimiter = false
    private var hasEnded = false
    /// Whether nothing of the current part has been read, not even the end of its head.
    private var isFresh = false
    private let source: () async throws -> ByteBuffer?

    /// - Parameters:
    ///   - contentType: the header with the boundary.
    ///   - source: the next bytes of the body, nil at its end.
    /// - Returns: nil for another type.
    init?(_ contentType: String?, _ source: @escaping () async throws -> ByteBuffer?) {
        guard let contentType, contentType.lowercased().hasPrefix("multipart/form-data") else { return nil }
        guard let boundary = HeaderFields.parameters(contentType)["boundary"],
            Self.boundaryBytes.contains(boundary.utf8.count)
        else { return nil }
        delimiter = Array("\r\n--\(boundary)".utf8)
        // The first delimiter needs no line before it.
        buffer = ByteBuffer(string: "\r\n")
        self.source = source
    }

    /// The next part; the rest of the one before it is passed by. Nil at the end.
    /// - Throws: `Malformed`, or the error of the source.
    mutating func next() async throws -> Part? {
        guard !hasEnded else { return nil }
        if !hasBegun {
            hasBegun = true
            try await passPreamble()
        }
        while !isAtDelimiter { _ = try await bytes() }
        guard try await fill(until: 2), let mark = buffer.readString(length: 2) else {
            throw Malformed(reason: "it ends before its last boundary")
        }
        if mark == "--" {
            hasEnded = true
            return nil
        }
        guard mark == "\r\n" else { throw Malformed(reason: "a boundary is followed by other characters") }
        isAtDelimiter = false
        return try await head()
    }

    /// Passes by what stands before the first boundary (RFC 2046, 5.1.1): mostly nothing, or an empty line.
    private mutating func passPreamble() async throws {
        while true {
            if let count = buffer.distance(to: delimiter), count <= Self.headBytes {
                buffer.moveReaderIndex(forwardBy: count)
                return passDelimiter()
            }
            let wanted = buffer.readableBytes + 1
            guard wanted <= Self.headBytes + delimiter.count, try await fill(until: wanted) else {
                throw Malformed(reason: "it does not begin with its boundary")
            }
        }
    }

    /// The next bytes of the current part; nil at its end.
    mutating func bytes() async throws -> ByteBuffer? {
        guard !isAtDelimiter else { return nil }
        if isFresh {
            isFresh = false
            guard try await fill(until: delimiter.count + 2) else { throw Self.cutOff }
            if isDelimiter(at: 0) {
                passDelimiter()
                return nil
            }
            buffer.moveReaderIndex(forwardBy: Self.lineEnd.count)
        }
        while true {
            if let count = buffer.distance(to: delimiter) {
                guard try await fill(until: count + delimiter.count + 2) else { throw Self.cutOff }
                // A longer line that begins like the boundary is contents.
                guard isDelimiter(at: count) else { return buffer.readSlice(length: count + delimiter.count) }
                let rest = buffer.readSlice(length: count)
                passDelimiter()
                return count > 0 ? rest : nil
            }
            // The last bytes can be the beginning of the delimiter.
            let safe = buffer.readableBytes - delimiter.count
            if safe > 0 { return buffer.readSlice(length: safe) }
            guard try await fill(until: delimiter.count + 1) else { throw Self.cutOff }
        }
    }

    private static let cutOff = Malformed(reason: "it ends before its last boundary")

    /// Whether a delimiter with its end stands here.
    private func isDelimiter(at place: Int) -> Bool {
        let view = buffer.readableBytesView.dropFirst(place)
        guard view.starts(with: delimiter) else { return false }
        let mark = view.dropFirst(delimiter.count)
        return mark.starts(with: Self.lineEnd) || mark.starts(with: "--".utf8)
    }

    private mutating func passDelimiter() {
        buffer.moveReaderIndex(forwardBy: delimiter.count)
        isAtDelimiter = true
    }

    /// The text of the current part.
    /// - Throws: `Malformed` for more bytes than `limit`, and for bytes that are not UTF-8.
    mutating func text(upTo limit: Int) async throws -> String {
        var bytes: [UInt8] = []
        while let next = try await self.bytes() {
            guard bytes.count + next.readableBytes <= limit else { throw Malformed(reason: "a field is too long") }
            bytes += next.readableBytesView
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Malformed(reason: "a field is not UTF-8")
        }
        return text
    }

    private mutating func head() async throws -> Part {
        var part = Part()
        var read = 0
        while true {
            let line = try await line(upTo: Self.headBytes - read)
            read += line.utf8.count + 2
            if line.isEmpty { break }
            let sides = line.split(separator: ":", maxSplits: 1)
            guard sides.count == 2 else { continue }
            switch sides[0].lowercased() {
            case "content-disposition":
                let parameters = HeaderFields.parameters(String(sides[1]))
                part.name = parameters["name"] ?? ""
                part.fileName = parameters["filename"].map(Self.unescaped)
            case "content-type": part.type = String(sides[1].drop { $0 == " " })
            default: break
            }
        }
        // The delimiter of an empty part begins with the end of its head: `bytes` looks.
        buffer.moveReaderIndex(to: buffer.readerIndex - Self.lineEnd.count)
        isFresh = true
        return part
    }

    /// The name as it was before a browser wrote it into a header.
    private static func unescaped(_ name: String) -> String {
        name.replacing("%22", with: "\"").replacing("%0D", with: "\r").replacing("%0A", with: "\n")
    }

    private mutating func line(upTo limit: Int) async throws -> String {
        while true {
            if let count = buffer.distance(to: Self.lineEnd) {
                guard count <= limit, let bytes = buffer.readBytes(length: count) else { throw Self.longHead }
                buffer.moveReaderIndex(forwardBy: 2)
                guard let line = String(validating: bytes, as: UTF8.self) else {
                    throw Malformed(reason: "the head of a part, such as the name of a file, is not UTF-8")
                }
                return line
            }
            guard buffer.readableBytes <= limit else { throw Self.longHead }
            guard try await fill(until: buffer.readableBytes + 1) else { throw Self.cutOff }
        }
    }

    private static let longHead = Malformed(reason: "the head of a part is too long")

    /// Reads until so many bytes are here.
    /// - Returns: false at the end of the body.
    private mutating func fill(until count: Int) async throws -> Bool {
        while buffer.readableBytes < count {
            guard var more = try await source() else { return false }
            if buffer.readableBytes == 0 {
                buffer = more
            } else {
                buffer.discardReadBytes()
                buffer.writeBuffer(&more)
            }
        }
        return true
    }
}

extension ByteBuffer {
    /// Bytes before the first `mark`, which begins with the end of a line; nil if it is not here.
    fileprivate func distance(to mark: [UInt8]) -> Int? {
        withUnsafeReadableBytes { bytes in
            guard let base = bytes.baseAddress else { return nil }
            var from = 0
            while from + mark.count <= bytes.count,
                let found = memchr(base + from, Int32(mark[0]), bytes.count - from - mark.count + 1)
            {
                let place = UnsafeRawPointer(found) - base
                if memcmp(base + place, mark, mark.count) == 0 { return place }
                from = place + 1
            }
            return nil
        }
    }
}

/// The parameters of a header's value.
enum HeaderFields {
    /// `a; name="x"; filename=y`: the names in lower case. A name that comes again is passed by.
    static func parameters(_ value: String) -> [String: String] {
        var found: [String: String] = [:]
        var rest = value.unicodeScalars[...]
        rest = rest.drop { $0 != ";" }
        while rest.popFirst() != nil {
            rest = rest.drop { $0 == " " || $0 == "\t" }
            let name = String(rest.prefix { $0 != "=" && $0 != ";" }).lowercased()
            rest = rest.drop { $0 != "=" && $0 != ";" }
            guard rest.first == "=" else { continue }
            rest = rest.dropFirst()
            var text = String.UnicodeScalarView()
            if rest.first == "\"" {
                rest = rest.dropFirst()
                while let next = rest.popFirst(), next != "\"" {
                    // Browsers write quotes as %22; others write a backslash before them.
                    if next == "\\", let escaped = rest.first, escaped == "\"" || escaped == "\\" {
                        text.append(escaped)
                        rest = rest.dropFirst()
                    } else {
                        text.append(next)
                    }
                }
                rest = rest.drop { $0 != ";" }
            } else {
                text.append(contentsOf: rest.prefix { $0 != ";" })
                rest = rest.drop { $0 != ";" }
            }
            if found[name] == nil { found[name] = String(text) }
        }
        return found
    }
}
