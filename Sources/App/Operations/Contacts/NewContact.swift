package import Contacts
import Foundation
import Lines
import Sharing
import SystemCalls

/// A peer that is to become a contact.
package struct NewContact: Sendable {
    let id: PeerID
    let name: ContactName
    let method: Verification.Method
    /// File and line; nil for a single one.
    let place: String?

    /// - Parameters:
    ///   - id: the whole id of its key, as people type it.
    ///   - isOfOffer: whether the key is of an offer, and was not compared.
    /// - Throws: `WaftError` `usage`.
    package init(_ id: String, name: String, isOfOffer: Bool = false) throws(WaftError) {
        try self.init(id, name, isOfOffer ? .firstUse : .keyID, at: nil)
    }

    private init(
        _ id: String, _ name: String, _ method: Verification.Method, at place: String?
    ) throws(WaftError) {
        (self.id, self.name) = (try PeerID.whole(id), try ContactName(user: name))
        (self.method, self.place) = (method, place)
    }

    func failure(_ reason: String, hint: String? = nil) -> WaftError {
        WaftError(.usage, reason, hint: hint).at(place)
    }

    // MARK: Lists

    /// Bytes of a list: the most contacts there can be, with long names.
    private static let maximumBytes = 2 << 20

    /// Reads a file with a key's id and a name on each line. Empty lines, and lines that begin with #, are passed over.
    /// - Throws: `WaftError`: `inputMissing` for a file that cannot be read, `usage` that names the line with the error.
    package static func list(at path: String) throws(WaftError) -> [NewContact] {
        let shown = ShownText.line(path, limit: 400)
        let file = path.utf8.contains(0) ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard file >= 0 else { throw unreadable(shown) }
        defer { close(file) }
        return try list(in: file, called: shown)
    }

    /// - Parameters:
    ///   - file: an open file, which is read to its end.
    ///   - shown: its name in failures.
    /// - Throws: as `list(at:)`.
    package static func list(in file: Int32, called shown: String) throws(WaftError) -> [NewContact] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw unreadable(shown) }
            if count == 0 { return try parse(bytes, shown) }
            guard bytes.count + count <= maximumBytes else {
                throw WaftError(.usage, "\(shown) is larger than \(maximumBytes >> 20) MiB")
            }
            bytes += buffer[..<count]
        }
    }

    private static func unreadable(_ shown: String) -> WaftError {
        WaftError(.inputMissing, "\(shown) cannot be read: \(String(cString: strerror(errno)))")
    }

    private static func parse(_ bytes: [UInt8], _ shown: String) throws(WaftError) -> [NewContact] {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw WaftError(.usage, "\(shown) is not UTF-8 text")
        }
        var read: [NewContact] = []
        // A line end of two bytes is one character, and a line end too.
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let line = line.trimmingCharacters(in: .whitespaces)
            if line.isEmpty || line.hasPrefix("#") { continue }
            let place = "\(shown), line \(index + 1)"
            let words = line.split(maxSplits: 1, whereSeparator: \.isWhitespace)
            do throws(WaftError) {
                guard words.count == 2 else { throw WaftError(.usage, "a KEY-ID, a space and a NAME are needed") }
                let name = words[1].trimmingCharacters(in: .whitespaces)
                read.append(try NewContact(String(words[0]), name, .keyID, at: place))
            } catch {
                throw error.at(place)
            }
            guard read.count <= ContactBounds.contacts else {
                throw WaftError(.usage, "\(shown) has more than \(ContactBounds.contacts) contacts")
            }
        }
        guard !read.isEmpty else { throw WaftError(.usage, "\(shown) has no contacts in it") }
        return read
    }
}

extension ContactName {
    /// Marks of contacts behind their names, in the faces.
    private static let marks = ["✓", "(contact)"]

    /// The name that a user gives a contact.
    /// - Throws: `WaftError` `usage`.
    package init(user text: String) throws(WaftError) {
        guard !Self.marks.contains(where: text.hasSuffix) else {
            throw WaftError(
                .usage,
                "\"\(ShownText.line(text, limit: 80))\" cannot be the name of a contact: ✓ behind a name is the mark of "
                    + "contacts")
        }
        guard text.first != ContactGroup.mark else {
            throw WaftError(
                .usage,
                "\"\(ShownText.line(text, limit: 80))\" cannot be the name of a contact: @ begins the name of a group")
        }
        self = try AddressBook.doing { () throws(ContactError) in try ContactName(text) }
    }

    /// As it can be pasted into a shell.
    var shellWord: String { ShellWord.quoted(ShownText.line(text, limit: 200)) }
}

extension PeerID {
    /// - Throws: `WaftError` `usage` unless it is a whole id with check digits. Case and dashes do not matter.
    static func whole(_ text: String) throws(WaftError) -> PeerID {
        if let id = PeerID(text: text) { return id }
        let digits = text.utf8.prefix(256).filter { $0 != UInt8(ascii: "-") }
        let isID = digits.allSatisfy(alphabet.contains)
        let reason =
            switch digits.count {
            case characters where isID:
                "is not a key id: its check digits do not match, so a character is wrong or two are swapped; copy it again"
            case bareCharacters where isID:
                "is a key id without its check digits, \(digits.count) of \(characters) characters; copy it again"
            case 1..<characters where isID:
                "is only the beginning of a key id, \(digits.count) of \(characters) characters: others could make keys "
                    + "with the same beginning; give the full id"
            default: "is not a key id, which has \(characters) letters and digits"
            }
        throw WaftError(
            .usage, "\"\(ShownText.line(text, limit: 80))\" \(reason)",
            hint: "to print the key id of the other machine, run there: waft contacts me")
    }

    private static let alphabet = Array("-0123456789abcdefghjkmnpqrstvwxyzABCDEFGHJKMNPQRSTVWXYZ".utf8)

    /// Characters of a text that is taken for a part of an id.
    private static let shortestBeginning = 9

    /// A contact that is named or begun, or any peer by its whole id.
    /// - Throws: `WaftError` `usage`.
    static func known(_ text: String, in snapshot: ContactSnapshot) throws(WaftError) -> PeerID {
        do throws(ContactError) {
            return try snapshot.find(text).id
        } catch {
            if error.code == .ambiguous { throw WaftError(error) }
            // A word that is no part of an id was meant for a contact.
            guard text.utf8.count >= shortestBeginning, text.utf8.allSatisfy(alphabet.contains) else {
                throw WaftError(
                    .usage, "\"\(ShownText.line(text, limit: 80))\" is neither a contact nor a whole key id",
                    hint: "see: waft contacts")
            }
            return try whole(text)
        }
    }
}
