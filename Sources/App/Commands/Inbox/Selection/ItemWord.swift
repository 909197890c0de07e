import Foundation
import Inbox
import Journal
import Sharing

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
