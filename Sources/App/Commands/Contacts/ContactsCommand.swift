import ArgumentParser
import Contacts
import Control
import Endpoints
import Foundation
import HandlerCatalog
import Journal
import Settings
import Sharing
import UniformTypes

/// `waft contacts`: the peers whose keys the user has verified and named.
struct ContactsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "contacts",
        abstract: "Manage contacts and what they may send.",
        discussion: """
            Example: waft contacts me, on one machine; waft contacts allow ID --name kitchen, on another.

            A contact is a key with a name that you chose. Another machine that claims the same name is a stranger. \
            A running receiver notices changes by itself.
            """,
        subcommands: [
            ContactsListCommand.self, ContactsShowCommand.self, ContactsMeCommand.self, ContactsAllowCommand.self,
            ContactsSetCommand.self, ContactsRenameCommand.self, ContactsForgetCommand.self, ContactsBlockCommand.self,
            ContactsUnblockCommand.self,
        ],
        defaultSubcommand: ContactsListCommand.self
    )
}

/// A verb about contacts, visibility or rules. It returns a report, and does not print it.
protocol ContactsVerb: AsyncParsableCommand {
    func report(on place: ContactsPlace) throws(CommandFailure) -> VerbReport
    /// Called after a change if no receiver is running.
    func sayThatNoneRuns()
}

extension ContactsVerb {
    mutating func run() async throws { try await carryOut() }

    func sayThatNoneRuns() {}

    func carryOut() async throws {
        let report = try report(on: ContactsPlace(try Surroundings()))
        report.show()
        if report.isChange, await !Daemon.tell(.lookAgain) { sayThatNoneRuns() }
    }
}

/// The data that the verbs use.
struct ContactsPlace {
    let book: ContactBook
    let visibility: VisibilityFile
    let policy: Policy
    /// The rule for the whole receiver.
    var receiver = ReceiverRule.ask
    /// The name that this peer gives itself.
    let ownName: String
    /// The id of this peer. Makes its key if there is none.
    let ownID: () throws -> PeerID
    /// All types that are known here. Reads the disk.
    let registry: () -> TypeRegistry
    /// Bytes that a sender has sent in a day. Reads the disk.
    var amounts: any AmountReading = NoAmounts()
    /// Fails unless there is a handler of this name or identifier. Reads the disk.
    var findHandler: (String) throws(CatalogError) -> Void = { _ in }
    var now: () -> WallTime = { .now }
    var zone = TimeZone.current
}

extension ContactsPlace {
    init(_ surroundings: Surroundings) {
        let (home, settings) = (surroundings.home, surroundings.settings)
        self.init(
            book: home.contactBook { Console.shared.note("warning: \(TerminalText.escaped($0, limit: 1_000))") },
            visibility: VisibilityFile(path: home.visibilityPath),
            policy: settings.policy,
            receiver: ReceiverRule(rawValue: settings.accept.rawValue) ?? .ask,
            ownName: settings.name,
            ownID: {
                try home.makeFolders()
                return try home.ownID()
            },
            registry: { home.typeRegistry() },
            amounts: JournalReader(folder: home.state, dialects: .known),
            findHandler: { name throws(CatalogError) in
                _ = try home.handlerCatalog(settings, includingHook: true).load().bundle(named: name)
            }
        )
    }

    /// Bytes that a sender has sent in the last 24 hours; nil if the journal cannot be read.
    func received(_ sender: AmountSender) -> UInt64? { try? amounts.received(from: sender, on: Day(until: now())) }

    func snapshot() throws(CommandFailure) -> ContactSnapshot {
        try CommandFailure.catching { () throws(ContactError) in try book.snapshot() }
    }
}

/// Amounts of a receiver that has never received anything.
struct NoAmounts: AmountReading {
    func received(from sender: AmountSender, on day: Day) throws(JournalFault) -> UInt64 { 0 }
}

/// The report of a verb. All lines are escaped.
struct VerbReport {
    /// For standard output.
    var results: [String] = []
    /// For standard error.
    var notes: [String] = []
    /// Whether a running receiver has to read the files again.
    var isChange = false

    func show() {
        for line in results { Console.shared.result(line) }
        for line in notes { Console.shared.note(line) }
    }
}

extension CommandFailure {
    /// - Parameters:
    ///   - place: where it stands, for the beginning of the line; escaped, as the hint is.
    init(_ error: ContactError, at place: String? = nil, hint: String? = nil) {
        let exit: WaftExit =
            switch error.code {
            case .unknownContact: .inputMissing
            case .ambiguous, .unfit, .nameTaken, .blocked: .usage
            case .full, .damaged, .storage: .unexpected
            }
        let hint = hint ?? (error.code == .unknownContact ? "see: waft contacts" : nil)
        let message = TerminalText.escaped(error.description, limit: 1_000)
        self.init(exit, place.map { "\($0): \(message)" } ?? message, hint: hint)
    }

    /// Does something with contacts, visibility or rules.
    static func catching<Result>(
        hint: String? = nil,
        _ body: () throws(ContactError) -> Result
    ) throws(CommandFailure) -> Result {
        do throws(ContactError) {
            return try body()
        } catch {
            throw CommandFailure(error, hint: hint)
        }
    }
}

/// The id of a key as people type it.
enum KeyWord {
    /// - Throws: `CommandFailure` `usage` unless it is a whole id with check digits. Case and dashes do not matter.
    static func whole(_ text: String) throws(CommandFailure) -> PeerID {
        if let id = PeerID(text: text) { return id }
        let shown = TerminalText.escaped(text, limit: 80)
        let digits = text.utf8.prefix(256).filter { $0 != UInt8(ascii: "-") }
        let alphabet = "0123456789abcdefghjkmnpqrstvwxyzABCDEFGHJKMNPQRSTVWXYZ".utf8
        let isID = digits.allSatisfy(alphabet.contains)
        let hint = "to print the key id of the other machine, run there: waft contacts me"
        let reason =
            switch digits.count {
            case PeerID.characters where isID:
                "is not a key id: its check digits do not match, so a character is wrong or two are swapped; copy it again"
            case PeerID.bareCharacters where isID:
                "is a key id without its check digits, \(digits.count) of \(PeerID.characters) characters; copy it again"
            case 1..<PeerID.characters where isID:
                "is only the beginning of a key id, \(digits.count) of \(PeerID.characters) characters: others could "
                    + "make keys with the same beginning; give the full id"
            default: "is not a key id, which has \(PeerID.characters) letters and digits"
            }
        throw CommandFailure(.usage, "\"\(shown)\" \(reason)", hint: hint)
    }

    /// A contact that is named or begun, or any peer by its whole id.
    static func peer(_ text: String, in snapshot: ContactSnapshot) throws(CommandFailure) -> PeerID {
        do throws(ContactError) {
            return try snapshot.find(text).id
        } catch {
            if error.code == .ambiguous { throw CommandFailure(error) }
            return try whole(text)
        }
    }
}
