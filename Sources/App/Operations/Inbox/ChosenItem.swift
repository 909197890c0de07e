import Contacts
import Endpoints
import Foundation
import Glibc
import HandlerCatalog
import Inbox
package import Journal
package import Lines
import Settings
import Sharing
import UniformTypes

/// An item on which an action works: named by a word, or selected.
package enum ChosenItem: Sendable {
    case item(JournalEntry)
    /// A word that names no item.
    case unknown(String)

    package var entry: JournalEntry? {
        if case .item(let entry) = self { entry } else { nil }
    }

    /// Nil for an unknown one.
    package var name: ItemName? { entry.map { ItemName($0.arrival) } }

    /// For the line of a failure.
    package var subject: FailedLine.Subject {
        if case .unknown(let word) = self { return .wanted(word) }
        return name.map { .item($0) } ?? .wanted("")
    }

    /// Bytes of its contents; 0 for an unknown one.
    package var size: UInt64 { entry?.arrival.size ?? 0 }
}

extension Arrivals {
    /// The item that a word means.
    /// - Throws: `WaftError` `usage` for a word that means two items: nothing is done then.
    package func item(_ word: String) throws(WaftError) -> ChosenItem {
        try entry(word).map(ChosenItem.item) ?? .unknown(word)
    }

    /// The items that fit all conditions, in the order of arrival.
    /// - Parameter pattern: for names in the Inbox.
    /// - Throws: `WaftError`, `inputMissing` if there are none.
    package func items(
        _ numbers: NumberSet?, matching pattern: String?, _ choice: ArrivalChoice?
    ) throws(WaftError) -> [ChosenItem] {
        let entries = try entriesThere(choice?.filter ?? .all).filter { entry in
            numbers?.contains(entry.arrival.number.value) != false
                && pattern.map { fnmatch($0, entry.arrival.stored.name.text, 0) == 0 } != false
        }
        guard !entries.isEmpty else { throw WaftError(.inputMissing, "no item in the Inbox is selected") }
        return entries.map(ChosenItem.item)
    }

    /// The arrival of a chosen item.
    /// - Throws: `WaftError` `inputMissing` for a word that names none.
    package func arrival(of item: ChosenItem) throws(WaftError) -> JournalLine {
        switch item {
        case .item(let entry): return JournalLine(entry, waft.people)
        case .unknown(let word): throw WaftError(.inputMissing, Self.unknown(word))
        }
    }
}

/// How the delivery of an arrival stands: the words of `delivery` in `--json`, and `deferred`.
package enum ArrivalState: String, CaseIterable {
    case none, waiting, deferred, yes, no, failed, parked, gone

    package static let words = allCases.map(\.rawValue).joined(separator: ", ")

    /// The state in the journal; `deferred` is a part of `waiting`.
    fileprivate var delivery: DeliveryState { DeliveryState(rawValue: rawValue) ?? .waiting }
}

/// The arrivals that a user wants to see.
package struct ArrivalChoice: Sendable {
    private let registry: TypeRegistry
    private let type: UniformType?
    private let peers: Set<PeerID>?
    private let since: WallTime?
    private let state: ArrivalState?

    /// Senders that the error message lists if `from` names none.
    private static let namedSenders = 12

    /// An arrival has to fit all conditions.
    /// - Parameters:
    ///   - type: those that conform to it are wanted, too.
    ///   - from: a contact, the name that a sender gives itself, or the beginning of its id.
    ///   - since: a duration, such as `2d`.
    ///   - state: an `ArrivalState`, or `opened`.
    ///   - words: write a person in a reason.
    /// - Throws: `WaftError` `usage` for a value that has no meaning, with the values that have one.
    package init(
        type: String? = nil, from: String? = nil, since: String? = nil, state: String? = nil, _ waft: Waft,
        words: (Person) -> String = \.introduction.line
    ) throws(WaftError) {
        let registry = type == nil ? TypeRegistry.system : waft.home.typeRegistry()
        self.registry = registry
        self.type = try type.map { text throws(WaftError) in
            do throws(CatalogError) {
                return try registry.type(named: text)
            } catch {
                throw WaftError(.usage, "--type: \(error)")
            }
        }
        self.state = try state.map { text throws(WaftError) in
            // The word of waft inbox show.
            guard let state = text == "opened" ? .yes : ArrivalState(rawValue: text) else {
                throw WaftError(.usage, "--state is one of \(ArrivalState.words)")
            }
            return state
        }
        self.since = try since.map { text throws(WaftError) in
            do throws(ContactError) {
                let seconds = try DurationText.read(text).components.seconds
                return WallTime(milliseconds: WallTime.now.milliseconds - seconds * 1_000)
            } catch {
                throw WaftError(.usage, "--since: \(error)")
            }
        }
        peers = try from.map { text throws(WaftError) in try Self.peers(text, waft, words) }
    }

    /// The senders that `text` means: a contact, or all with an id that begins so, or all with this name.
    private static func peers(
        _ text: String, _ waft: Waft, _ words: (Person) -> String
    ) throws(WaftError) -> Set<PeerID> {
        let people = waft.people
        do throws(ContactError) {
            return [try people.contact(text).id]
        } catch {
            guard error.code == .unknownContact else {
                throw WaftError(
                    [.full, .damaged, .storage].contains(error.code) ? .unexpected : .usage, "--from: \(error)")
            }
        }
        let senders = try waft.inbox.read { reader throws(JournalError) in try reader.senders() }
        let named = senders.filter { $0.peer.hasPrefix(text) }
        let found = named.isEmpty ? senders.filter { TypedName.means(text, $0.name) } : named
        guard found.isEmpty else { return Set(found.map(\.peer)) }
        var seen: Set<PeerID> = []
        let names = senders.filter { seen.insert($0.peer).inserted }
            .map { words(people.person($0.peer, callingItself: $0.name)) }.prefix(namedSenders)
        let others = seen.count > names.count ? " and \(seen.count - names.count) more" : ""
        let known =
            names.isEmpty ? "nothing has arrived yet" : "the senders are: \(names.joined(separator: ", "))\(others)"
        throw WaftError(
            .usage, "--from: no contact or sender is named \"\(ShownText.line(text, limit: 64))\"; \(known)")
    }

    /// For the journal.
    var filter: ArrivalFilter {
        ArrivalFilter(since: since, state: state?.delivery) { [self] entry in
            isWanted(entry.arrival.type, from: entry.arrival.peer)
                && (state != .deferred || (entry.waiting?.deferrals ?? 0) > 0)
        }
    }

    /// Whether an event is about a wanted arrival. With a state, only a handler's answer of that state is.
    package func isWanted(_ event: ControlEvent) -> Bool {
        switch event {
        case .arrival(let item):
            guard let answer = item.handlerAnswer else { return state == nil && isWanted(item) }
            let isOfState =
                switch state {
                case nil: true
                case .deferred, .waiting: answer == HandlerAnswer.State.later.rawValue
                case let state?: answer == state.rawValue
                }
            return isOfState && isWanted(item)
        case .ready, .offer, .answered, .progress, .visibility, .settings, .contacts, .protection, .ended:
            return false
        }
    }

    private func isWanted(_ item: ArrivalLine) -> Bool {
        guard let type = UniformType(item.type), let peer = item.sender(.known) else { return false }
        return isWanted(type, from: peer)
    }

    private func isWanted(_ type: UniformType, from peer: PeerID) -> Bool {
        // A type that only a handler here declares arrives as a dynamic one.
        peers?.contains(peer) != false
            && self.type.map { registry.conforms(registry.resolved(type), to: $0) } != false
    }
}

// MARK: - Words

/// The meaning of a word that names one item: a number as it is printed, a name in the Inbox, or a path. A word is never
/// a range or a pattern: a sender chooses names such as `*` and `1-99`.
enum ItemWord {
    enum Meaning {
        case nothing
        case item(JournalEntry)
        /// One item has the number, and another one in the Inbox has the name.
        case either(numbered: JournalEntry, named: JournalEntry)
    }

    /// - Parameters:
    ///   - inbox: the path of the Inbox.
    ///   - current: the working folder of the user.
    static func meaning(
        of word: String, in inbox: String, _ reader: JournalReader,
        current: String = FileManager.default.currentDirectoryPath
    ) throws(JournalError) -> Meaning {
        guard PathText.names(in: word, keepingEmpty: true).count == 1 else {
            for path in paths(word, in: inbox, current: current) {
                if let entry = try entry(at: path, reader) { return .item(entry) }
            }
            return .nothing
        }
        let numbered: JournalEntry? =
            if let number = number(word) { try reader.entry(number) } else { nil }
        let named = meant(try reader.entries(named: word))
        switch (numbered, named) {
        case (let numbered?, let named?) where named.isThere && named.arrival.number != numbered.arrival.number:
            // An item that has left gives its number up for a name.
            return numbered.isThere ? .either(numbered: numbered, named: named) : .item(named)
        case (let entry?, _), (nil, let entry?): return .item(entry)
        case (nil, nil): return .nothing
        }
    }

    /// - Returns: nil for a word that is not a number as Waft prints it, such as `02`.
    static func number(_ word: some StringProtocol) -> ArrivalNumber? {
        guard let number = Int64(word), String(number) == word else { return nil }
        return ArrivalNumber(number)
    }

    /// Of several entries of one name, the last first: the latest that is in the Inbox's own folder, in the Inbox, or
    /// was there.
    private static func meant(_ entries: [JournalEntry]) -> JournalEntry? {
        entries.first { $0.isThere && $0.arrival.destination.folder == nil } ?? entries.first(where: \.isThere)
            ?? entries.first
    }

    // MARK: Paths

    /// The absolute paths that a path can mean: from the working folder, and from the Inbox if the working folder is
    /// another one.
    private static func paths(_ word: String, in inbox: String, current: String) -> [String] {
        let here = plain(PathText.isAbsolute(word) ? word : PathText.joined(current, word))
        let isInside = current == inbox || PathText.part(of: current, below: inbox) != nil
        return isInside || PathText.isAbsolute(word) ? [here] : [here, plain(PathText.joined(inbox, word))]
    }

    /// An absolute path without `.`, `..` and repeated slashes.
    private static func plain(_ path: String) -> String {
        var names: [Substring] = []
        for name in PathText.names(in: path) where name != "." {
            if name == ".." { _ = names.popLast() } else { names.append(name) }
        }
        return "/" + names.joined(separator: "/")
    }

    /// The entry of the item at an absolute path. A sealed item is found by its own name and by that on the disk.
    private static func entry(at path: String, _ reader: JournalReader) throws(JournalError) -> JournalEntry? {
        let name = PathText.lastName(of: path)
        let folder = path.dropLast(name.count)
        for name in [name, SealedName.own(name)].compactMap(\.self) {
            let entries = try reader.entries(named: name).filter { entry in
                let stored = entry.arrival.stored
                return stored.path == path || stored.path.dropLast(PathText.lastName(of: stored.path).count) == folder
            }
            if let entry = meant(entries) { return entry }
        }
        return nil
    }
}

/// The numbers of `--numbers`: single ones and ranges, such as `1-50,60`.
package struct NumberSet: Sendable {
    private var ranges: [ClosedRange<Int64>] = []

    private static let unfit = WaftError(
        .usage, "--numbers is a list of numbers and ranges, such as 1-50,60")
    /// Maximum number of parts.
    private static let maximumParts = 1_000

    /// - Throws: `WaftError` `usage` for anything else, such as an empty part, `5-1` or `0`.
    package init(_ text: String) throws(WaftError) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count <= Self.maximumParts else { throw Self.unfit }
        for part in parts {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false)
            let numbers = ends.compactMap { ItemWord.number($0)?.value }
            guard (1...2).contains(ends.count), numbers.count == ends.count, let first = numbers.first,
                let last = numbers.last, first >= 1, first <= last
            else { throw Self.unfit }
            ranges.append(first...last)
        }
    }

    func contains(_ number: Int64) -> Bool { ranges.contains { $0.contains(number) } }
}
