import Contacts
import Control
import Endpoints
import Foundation
import HandlerCatalog
import Journal
import Settings
import Sharing
import UniformTypes

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
    init(_ context: CommandContext) {
        let (home, settings) = (context.home, context.settings)
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

    func snapshot() throws(CommandError) -> ContactSnapshot {
        try CommandError.catching { () throws(ContactError) in try book.snapshot() }
    }
}

/// Amounts of a receiver that has never received anything.
struct NoAmounts: AmountReading {
    func received(from sender: AmountSender, on day: Day) throws(JournalError) -> UInt64 { 0 }
}
