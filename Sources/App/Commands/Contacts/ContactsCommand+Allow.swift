import ArgumentParser
import Contacts
import Foundation
import Sharing

/// `waft contacts allow`.
struct ContactsAllowCommand: ContactsVerb {
    static let configuration = CommandConfiguration(
        commandName: "allow",
        abstract: "Make a contact of a machine whose key id you know.",
        discussion: """
            Example: waft contacts allow 7h2k… --name kitchen --policy accept --for 30d

            The id has 56 characters; the last four are check digits. On the other machine, waft contacts me prints it. With \
            --from, each line of the file is an id, a space and a name; empty lines and lines that begin with # are \
            ignored. If one line is wrong, no contact is added.
            """
    )

    @Argument(help: ArgumentHelp("The full id of its key.", valueName: "key-id"))
    var id: String?

    @Option(name: .long, help: ArgumentHelp("Name of the contact.", valueName: "name"))
    var name: String?

    @Option(
        name: .long,
        help: ArgumentHelp("A file with KEY-ID NAME on each line; - for standard input.", valueName: "file"))
    var from: String?

    @OptionGroup var options: ContactOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if from != nil {
            guard id == nil, name == nil else {
                throw ValidationError("give either --from FILE, or a KEY-ID and --name")
            }
        } else if id == nil || name == nil {
            throw ValidationError("give a KEY-ID and --name, or --from FILE")
        }
    }

    func report(on place: ContactsPlace) throws(CommandFailure) -> VerbReport {
        let wanted = try wanted()
        let change = try options.change(on: place)
        let own = try? place.ownID()
        if let mistaken = wanted.first(where: { $0.id == own }) {
            throw mistaken.failure("this is the key of this machine itself; the id of the other one is needed")
        }
        let verification = Verification(.keyID, at: place.now())
        var current: ContactAllowance?
        var refusal: CommandFailure?
        do throws(ContactError) {
            try place.book.change { draft throws(ContactError) in
                refusal = Self.misnamed(wanted, draft.before)
                guard refusal == nil else { return }
                for allowance in wanted {
                    current = allowance
                    let known = draft.before[allowance.id]
                    // A contact that was verified in a better way stays so.
                    if known == nil || known?.isBlocked == true {
                        try draft.allow(allowance.id, named: allowance.name, verification)
                    }
                    try draft.set(allowance.id) { change.apply(to: &$0) }
                }
            }
        } catch {
            throw CommandFailure(error, at: current?.place)
        }
        if let refusal { throw refusal }
        let (snapshot, text) = (try place.snapshot(), ContactText(place))
        let contacts = wanted.compactMap { snapshot[$0.id] }
        return VerbReport(
            results: contacts.map {
                output.json ? EventLine.contact(ContactFields($0)).text : "allowed " + text.line($0)
            },
            isChange: true)
    }

    private func wanted() throws(CommandFailure) -> [ContactAllowance] {
        if let from { return try ContactList.read(from) }
        guard let id, let name else { throw CommandFailure(.usage, "give a KEY-ID and --name") }
        let key = try KeyWord.whole(id)
        return [ContactAllowance(id: key, name: try CommandFailure.contactName(name), place: nil)]
    }

    /// A failure if a key is known already by another name, or stands in the list twice with different names.
    private static func misnamed(_ wanted: [ContactAllowance], _ before: ContactSnapshot) -> CommandFailure? {
        var names: [PeerID: ContactName] = [:]
        for allowance in wanted {
            if let contact = before[allowance.id], contact.name != allowance.name {
                let old = TerminalText.escaped(contact.name.text)
                return allowance.failure(
                    "this key already belongs to your contact \(old)",
                    hint: "to rename it: waft contacts rename \(TerminalText.shellWord(contact.name.text)) NEW")
            }
            if let other = names.updateValue(allowance.name, forKey: allowance.id), other != allowance.name {
                return allowance.failure("the key is listed twice, also with the name \(other)")
            }
        }
        return nil
    }
}

/// A peer that is to become a contact.
struct ContactAllowance {
    let id: PeerID
    let name: ContactName
    /// File and line, escaped; nil for the command line.
    let place: String?

    func failure(_ message: String, hint: String? = nil) -> CommandFailure {
        CommandFailure(.usage, place.map { "\($0): \(message)" } ?? message, hint: hint)
    }
}

/// A file with a key's id and a name on each line.
enum ContactList {
    /// Bytes of a file: the most contacts there can be, with long names.
    static let maximumBytes = 2 << 20

    /// - Parameter path: `-` for standard input.
    /// - Throws: `CommandFailure` that names the line with the error.
    static func read(_ path: String) throws(CommandFailure) -> [ContactAllowance] {
        if path == "-" { return try parse(try bytes(of: STDIN_FILENO, "standard input"), "standard input") }
        let shown = TerminalText.escaped(path, limit: 400)
        let file = path.utf8.contains(0) ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard file >= 0 else {
            throw CommandFailure(.inputMissing, "\(shown) cannot be read: \(String(cString: strerror(errno)))")
        }
        defer { close(file) }
        return try parse(try bytes(of: file, shown), shown)
    }

    private static func bytes(of file: Int32, _ shown: String) throws(CommandFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw CommandFailure(.inputMissing, "\(shown) cannot be read: \(String(cString: strerror(errno)))")
            }
            if count == 0 { return bytes }
            guard bytes.count + count <= maximumBytes else {
                throw CommandFailure(.usage, "\(shown) is larger than \(maximumBytes >> 20) MiB")
            }
            bytes += buffer[..<count]
        }
    }

    /// - Parameter shown: the name of the input in error messages.
    static func parse(_ bytes: [UInt8], _ shown: String) throws(CommandFailure) -> [ContactAllowance] {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandFailure(.usage, "\(shown) is not UTF-8 text")
        }
        var read: [ContactAllowance] = []
        // A line end of two bytes is one character, and a line end too.
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let line = line.trimmingCharacters(in: .whitespaces)
            if line.isEmpty || line.hasPrefix("#") { continue }
            let place = "\(shown), line \(index + 1)"
            let words = line.split(maxSplits: 1, whereSeparator: \.isWhitespace)
            do throws(CommandFailure) {
                guard words.count == 2 else { throw CommandFailure(.usage, "a KEY-ID, a space and a NAME are needed") }
                let id = try KeyWord.whole(String(words[0]))
                let name = words[1].trimmingCharacters(in: .whitespaces)
                read.append(ContactAllowance(id: id, name: try CommandFailure.contactName(name), place: place))
            } catch {
                throw CommandFailure(error.exit, "\(place): \(error.message)", hint: error.hint)
            }
            guard read.count <= ContactBounds.contacts else {
                throw CommandFailure(.usage, "\(shown) has more than \(ContactBounds.contacts) contacts")
            }
        }
        guard !read.isEmpty else { throw CommandFailure(.usage, "\(shown) has no contacts in it") }
        return read
    }
}

extension CommandFailure {
    static func contactName(_ text: String) throws(CommandFailure) -> ContactName {
        try catching { () throws(ContactError) in try ContactName(text) }
    }
}
