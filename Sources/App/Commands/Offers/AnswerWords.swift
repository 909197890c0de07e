import Control

/// The words of `waft accept` and `waft decline` about an answered offer. All lines are escaped.
enum AnswerWords {
    /// Items that are named; the others are counted.
    private static let shown = 10

    /// - Parameters:
    ///   - items: places in the offer, from 0; nil for all.
    ///   - folder: below the Inbox.
    static func accepted(_ offer: Int, items: [Int]? = nil, folder: String? = nil) -> String {
        let place = folder.map { ", into \(TerminalText.escaped($0))" } ?? ""
        guard let items else { return "offer \(offer) accepted\(place)" }
        let numbers = items.prefix(shown).map { String($0 + 1) } + (items.count > shown ? [Glyph.ellipsis] : [])
        let which = items.count == 1 ? "item" : "items"
        return "offer \(offer) accepted, only \(which) \(numbers.joined(separator: ", "))\(place)"
    }

    static func declined(_ offer: Int, block: Bool) -> String {
        "offer \(offer) declined" + (block ? ", and its sender is blocked" : "")
    }

    /// Items that do not go to the folder that was named for them.
    static func lines(_ present: [PresentItem]) -> [String] {
        let lines = present.prefix(shown).map { item in
            "\(TerminalText.escaped(item.name)): already there as \(TerminalText.escaped(item.stored)), and stays there unless "
                + "it has changed; to move it: waft inbox take \(item.arrival) FOLDER"
        }
        let rest = present.count - lines.count
        return lines + (rest > 0 ? ["and \(rest) more that are already there"] : [])
    }
}
