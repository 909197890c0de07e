import ContentCheck
import Control
import Endpoints
import Foundation
import HandlerCatalog
import Inbox
package import Journal
package import Lines
import Settings
package import Sharing
import SystemCalls
import UniformTypes

extension Waft {
    /// The items of the Inbox, and the journal of their arrivals.
    package var inbox: Arrivals { Arrivals(waft: self) }
}

/// The items of the Inbox. The journal knows those that Waft has stored; a running receiver writes it.
///
/// What happens to one of several items is a `Result`: its failure is that of the item, and an error ends the whole.
package struct Arrivals: Sendable {
    let waft: Waft

    /// The path of the Inbox, for actions that read or change it.
    /// - Throws: `WaftError` `usage` if another user could change the Inbox.
    func place() throws(WaftError) -> String {
        do {
            try waft.home.checkInboxTrust()
        } catch {
            throw WaftError(.usage, "\(error)")
        }
        return waft.home.inbox
    }

    /// Everything in the Inbox's own folder or, with a choice, those items that Waft has stored, also in folders of the
    /// Inbox. The oldest arrival is the first, and before it are the entries that other programs made.
    /// - Throws: `WaftError`.
    package func list(_ choice: ArrivalChoice? = nil) throws(WaftError) -> [EntryLine] {
        let (inbox, people) = (try place(), waft.people)
        guard let choice else { return try own(in: inbox, people) }
        return try entriesThere(choice.filter).compactMap { known in
            let arrival = known.arrival
            let path = arrival.stored.path
            guard let name = PathText.part(of: path, below: inbox), let entry = InboxListing.entry(at: path) else {
                return nil
            }
            let own = arrival.protection.isSealed && arrival.item.kind != .tree ? SealedName.own(name) : nil
            return EntryLine(entry, shownName: own ?? name, known, people)
        }
    }

    private func own(in inbox: String, _ people: KnownPeers) throws(WaftError) -> [EntryLine] {
        let entries: [InboxListing.Entry]
        do throws(InboxError) {
            entries = try InboxListing.entries(at: inbox)
        } catch {
            throw WaftError(.unexpected, error.message)
        }
        // Items in a folder are not listed: the folder is.
        let own = ((try? entriesThere()) ?? []).filter { entry in
            PathText.part(of: entry.arrival.stored.path, below: inbox).map { !$0.contains("/") }
                ?? (entry.arrival.destination.folder == nil)
        }
        let byName = Dictionary(own.map { ($0.arrival.nameOnDisk, $0) }) { _, later in later }
        let lines = entries.map { entry in
            let known = byName[entry.name]
            return EntryLine(entry, shownName: known?.arrival.stored.name.text ?? entry.name, known, people)
        }
        return lines.filter { $0.arrival == nil }
            + lines.compactMap { line in line.arrival.map { ($0, line) } }.sorted { $0.0 < $1.0 }.map(\.1)
    }

    /// Everything about an item, with each call of a handler.
    /// - Parameter word: its number, name or path.
    /// - Throws: `WaftError`, `inputMissing` if it means no item.
    package func show(_ word: String) throws(WaftError) -> JournalLine {
        guard let entry = try entry(word) else {
            throw WaftError(.inputMissing, Self.unknown(word), hint: "see: waft history")
        }
        var line = JournalLine(entry, waft.people)
        let (type, kind) = (entry.arrival.type, entry.arrival.item.kind.fileKind)
        let icon = DocumentIcon(type, kind: kind, in: catalog.load())
        (line.icon, line.genericIcon, line.iconFile) = (icon.name, icon.genericName, icon.file)
        return line
    }

    /// Writes the contents of an item to a file. A sealed one is opened for it.
    /// - Parameter isTerminal: whether a person would see the contents.
    /// - Throws: `WaftError`: `usage` for a folder, and for a terminal if the content is not as it was declared; `locked`,
    ///   `contentChanged`: then a part may have been written before.
    package func write(_ word: String, to file: Int32, isTerminal: Bool) throws(WaftError) {
        let inbox = try place()
        let entry = try itemThere(word)
        guard entry.arrival.item.kind != .tree else {
            throw WaftError(.usage, "\(entry.head): it is a folder", hint: "take it out with: waft inbox take")
        }
        guard entry.arrival.content?.outcome != .lying || !isTerminal else {
            throw WaftError(
                .usage, "\(entry.head): its content is not what it was sent as",
                hint: "to look at it: waft inbox preview")
        }
        do throws(LeavingError) {
            try ItemReader(inbox: inbox, keys: waft.receiver.fileKeys).write(entry.arrival, to: file)
        } catch {
            throw WaftError(error)
        }
    }

    /// Makes the folder at the Inbox's path the Inbox.
    /// - Throws: `WaftError`, `unexpected` if it cannot be.
    package func adopt() async throws(WaftError) -> AdoptedLine {
        let home = waft.home
        switch try await waft.receiver.askIfRunning(.adoptInbox) {
        case .done: break
        case .refused(let reason): throw WaftError(.unexpected, reason)
        case nil:
            do {
                try FileInbox.adopt(home.inbox, memory: try Journal(folder: home.state, dialects: .known))
            } catch {
                throw WaftError(.unexpected, "\(error)")
            }
        default: throw .noAnswer
        }
        return AdoptedLine(inbox: home.inbox)
    }

    /// Lets a running receiver seal an item in another way, or open it for good.
    /// - Parameter now: does not wait for handlers that read it.
    /// - Throws: `WaftError`: `inputMissing` if it is not there, `noAnswer` if a handler reads it, `locked`,
    ///   `contentChanged`, `notRunning`.
    package func reseal(
        _ word: String, as protection: ProtectionClass, now: Bool
    ) async throws(WaftError) -> ResealedLine {
        let entry = try itemThere(word)
        let number = entry.arrival.number
        let request = ProtectionRequest.reseal(
            arrival: number.value, protection: protection.rawValue, now: now)
        // A large item is written and read back.
        switch try await waft.receiver.ask(.protection(request), timeout: .seconds(24 * 3_600)) {
        case .done: break
        case .beingRead(let handler, let seconds): throw .beingRead(entry, by: handler, seconds)
        case .itemFault(let code, let reason): throw WaftError(LeavingError(code: code, reason))
        case .unknown(let reason): throw WaftError(.inputMissing, reason)
        case .refused(let reason): throw WaftError(.unexpected, reason)
        default: throw .noAnswer
        }
        return ResealedLine(try self.entry(number)?.arrival ?? entry.arrival)
    }

    /// Writes the names and places that the user has given items into the journal. A fault of the journal is left to the
    /// action that follows, which meets it too.
    package func followRenames() async {
        guard let inbox = try? place(),
            let places = try? read({ reader throws(JournalError) in try reader.placesThere() })
        else { return }
        let moved = InboxRenames.find(places, inbox: inbox)
        if moved.isEmpty { return }
        do throws(WaftError) {
            if try await waft.receiver.askIfRunning(.followRenames) != nil { return }
        } catch {
            return
        }
        try? Journal(folder: waft.home.state, dialects: .known).moved(moved, at: .now)
    }

    /// The handlers, with their names in the languages of the user.
    var catalog: HandlerCatalog {
        var catalog = waft.home.handlerCatalog(waft.settings, includingHook: true)
        catalog.languages = UserLanguages.names(ProcessInfo.processInfo.environment)
        return catalog
    }

    // MARK: - The journal

    func read<Value>(_ body: (JournalReader) throws(JournalError) -> Value) throws(WaftError) -> Value {
        do {
            return try body(waft.journal)
        } catch {
            throw WaftError(.unexpected, error.description)
        }
    }

    /// The arrival, with its attempts, that a word means: its number, its name in the Inbox, or its path.
    /// - Throws: `WaftError` `usage` for a word that is the number of one item and the name of another.
    package func entry(_ word: String) throws(WaftError) -> JournalEntry? {
        let inbox = waft.home.inbox
        let meaning = try read { reader throws(JournalError) in try ItemWord.meaning(of: word, in: inbox, reader) }
        switch meaning {
        case .nothing: return nil
        case .item(let entry): return try self.entry(entry.arrival.number)
        case .either(let numbered, let named):
            let name = ShownText.line(numbered.arrival.stored.name.text, limit: WaftError.nameLimit)
            throw WaftError(
                .usage, "\(word) is the number of \(name), and the name of item \(named.arrival.number)",
                hint: "write \(ShellWord.quoted("./\(name)")), or ./\(word)")
        }
    }

    /// An arrival with its attempts.
    package func entry(_ number: ArrivalNumber) throws(WaftError) -> JournalEntry? {
        try read { reader throws(JournalError) in try reader.entry(number) }
    }

    /// - Throws: `WaftError` `inputMissing` if the word means no item, or one that has left.
    private func itemThere(_ word: String) throws(WaftError) -> JournalEntry {
        guard let entry = try entry(word) else { throw WaftError(.inputMissing, Self.unknown(word)) }
        guard entry.isThere else {
            throw WaftError(.inputMissing, "\(entry.head): \(entry.leaving ?? "it is no longer in the Inbox")")
        }
        return entry
    }

    /// Arrivals that are read at a time.
    private static let page = 1_024

    /// The arrivals that are in the Inbox according to the journal, in their order, without their attempts.
    func entriesThere(_ filter: ArrivalFilter = .all) throws(WaftError) -> [JournalEntry] {
        try read { reader throws(JournalError) in
            var found: [JournalEntry] = []
            while true {
                let entries = try reader.entriesThere(
                    after: found.last?.arrival.number, count: Self.page, filter: filter)
                found += entries
                guard entries.count == Self.page else { return found }
            }
        }
    }

    package static func unknown(_ word: String) -> String {
        "no item is named or numbered \"\(ShownText.line(word, limit: WaftError.nameLimit))\""
    }
}

extension JournalEntry {
    /// The beginning of a line about it, cut.
    package var head: String {
        "\(arrival.number)  \(ShownText.line(arrival.stored.name.text, limit: WaftError.nameLimit))"
    }

    /// How the item left the Inbox, cut; nil if it has not.
    package var leaving: String? { departure.map { JournalLine.Departure($0).words } }
}

extension WaftError {
    /// Characters of a name in a reason.
    static let nameLimit = 200

    static func beingRead(_ entry: JournalEntry, by handler: String, _ seconds: Int) -> WaftError {
        let handler = ShownText.line(handler, limit: 64)
        return WaftError(.noAnswer, "\(entry.head): \(handler) is reading it (\(seconds) s); --now does it anyway")
    }
}

extension EntryLine {
    /// - Parameters:
    ///   - shownName: its name, or its path below the Inbox.
    ///   - known: its arrival.
    fileprivate init(_ entry: InboxListing.Entry, shownName: String, _ known: JournalEntry?, _ people: KnownPeers) {
        let arrival = known?.arrival
        let kind =
            switch entry.kind {
            case .file: (arrival?.item.kind ?? .file).rawValue
            case .folder: ItemKind.tree.rawValue
            case .link, .other: entry.kind.rawValue
            }
        self.init(
            stored: entry.name, path: entry.path, kind: kind, form: entry.kind.rawValue, shownName: shownName,
            modified: LineTime(milliseconds: entry.modified.seconds &* 1_000))
        (size, mark, bytes) = (entry.size, entry.mark, entry.size ?? arrival?.size)
        guard let arrival else { return }
        (self.arrival, name) = (arrival.number.value, arrival.item.name.text)
        (type, via, arrived) = (arrival.type.identifier, arrival.dialect.name, known.map { LineTime($0.arrived) })
        if arrival.protection.isSealed {
            (protection, stored, bytes) = (arrival.protection.rawValue, arrival.stored.name.text, arrival.size)
            size = entry.kind == .file ? arrival.size : nil
        }
        from = people.person(arrival.peer, callingItself: arrival.senderName).fields
    }
}
