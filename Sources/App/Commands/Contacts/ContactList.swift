import Contacts
import Foundation
import Lines
import Sharing

/// A file with a key's id and a name on each line.
enum ContactList {
    /// Bytes of a file: the most contacts there can be, with long names.
    static let maximumBytes = 2 << 20

    /// - Parameter path: `-` for standard input.
    /// - Throws: `CommandError` that names the line with the error.
    static func read(_ path: String) throws(CommandError) -> [ContactAllowance] {
        if path == "-" { return try parse(try bytes(of: STDIN_FILENO, "standard input"), "standard input") }
        let shown = TerminalText.escaped(path, limit: 400)
        let file = path.utf8.contains(0) ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard file >= 0 else {
            throw CommandError(.inputMissing, "\(shown) cannot be read: \(String(cString: strerror(errno)))")
        }
        defer { close(file) }
        return try parse(try bytes(of: file, shown), shown)
    }

    private static func bytes(of file: Int32, _ shown: String) throws(CommandError) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw CommandError(.inputMissing, "\(shown) cannot be read: \(String(cString: strerror(errno)))")
            }
            if count == 0 { return bytes }
            guard bytes.count + count <= maximumBytes else {
                throw CommandError(.usage, "\(shown) is larger than \(maximumBytes >> 20) MiB")
            }
            bytes += buffer[..<count]
        }
    }

    /// - Parameter shown: the name of the input in error messages.
    static func parse(_ bytes: [UInt8], _ shown: String) throws(CommandError) -> [ContactAllowance] {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandError(.usage, "\(shown) is not UTF-8 text")
        }
        var read: [ContactAllowance] = []
        // A line end of two bytes is one character, and a line end too.
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let line = line.trimmingCharacters(in: .whitespaces)
            if line.isEmpty || line.hasPrefix("#") { continue }
            let place = "\(shown), line \(index + 1)"
            let words = line.split(maxSplits: 1, whereSeparator: \.isWhitespace)
            do throws(CommandError) {
                guard words.count == 2 else { throw CommandError(.usage, "a KEY-ID, a space and a NAME are needed") }
                let id = try KeyWord.whole(String(words[0]))
                let name = words[1].trimmingCharacters(in: .whitespaces)
                read.append(ContactAllowance(id: id, name: try CommandError.contactName(name), place: place))
            } catch {
                throw CommandError(error.exit, "\(place): \(error.message)", hint: error.hint)
            }
            guard read.count <= ContactBounds.contacts else {
                throw CommandError(.usage, "\(shown) has more than \(ContactBounds.contacts) contacts")
            }
        }
        guard !read.isEmpty else { throw CommandError(.usage, "\(shown) has no contacts in it") }
        return read
    }
}

/// A peer that is to become a contact.
struct ContactAllowance {
    let id: PeerID
    let name: ContactName
    /// File and line, escaped; nil for the command line.
    let place: String?

    func failure(_ message: String, hint: String? = nil) -> CommandError {
        CommandError(.usage, place.map { "\($0): \(message)" } ?? message, hint: hint)
    }
}
