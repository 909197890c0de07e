import CLinuxShims
import Foundation
import SystemPackage

/// A document on a program's standard input: one line of JSON, with its newline.
enum InputDocument {
    static func line(_ document: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try [UInt8](encoder.encode(document)) + [UInt8(ascii: "\n")]
    }

    /// The document without its newline; nil if it cannot be encoded.
    static func text(_ document: some Encodable) -> String? {
        (try? line(document)).map { String(decoding: $0.dropLast(), as: UTF8.self) }
    }

    /// An anonymous file that holds the line, at its beginning; the caller owns the descriptor.
    ///
    /// Not a pipe: a program that never reads its input must not block the receiver.
    /// - Parameter name: shown in `/proc`.
    static func file(_ line: [UInt8], name: String) throws -> FileDescriptor {
        let raw = CLinuxShims_memory_file(name)
        guard raw >= 0 else { throw Errno(rawValue: errno) }
        let file = FileDescriptor(rawValue: raw)
        do {
            try file.writeAll(line)
            try file.seek(offset: 0, from: .start)
            return file
        } catch {
            try? file.close()
            throw error
        }
    }
}
