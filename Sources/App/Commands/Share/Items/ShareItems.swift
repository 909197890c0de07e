import Foundation
import ItemSources
import Lines
import Operations
import Sharing
import UniformTypes

/// The items that are shared.
struct ShareItems {
    struct Item {
        let source: any ItemSource
        /// The absolute path of a file or folder that is there already; nil for all else.
        let path: String?

        var offered: OfferedItem { source.offered }

        /// Whether it is a text or a URL.
        var isWords: Bool { [.text, .url].contains(offered.kind) }
    }

    let items: [Item]
    /// The words of the command: files and folders, texts, URLs, programs.
    let paths: [String]
    let texts: [String]
    let urls: [String]
    let programs: [String]
    /// The subject that the user gave.
    let subject: String?

    /// Looks at every file, and asks each program for its placeholder. No contents are read.
    ///
    /// - Parameter activity: the type of the activity for which programs are asked; empty before one is chosen.
    /// - Throws: `CommandError`: 64 for wrong words, 66 for inputs that cannot be read.
    init(
        paths: [String], texts: [String], urls: [String], programs: [String], subject: String?, activity: String = ""
    ) throws(CommandError) {
        guard !(paths + texts + urls + programs).isEmpty else {
            throw CommandError(.usage, "nothing to share", hint: "for example: waft share photo.jpg")
        }
        var leftOut: [SourceError] = []
        let paths = SendSources.once(paths) { leftOut.append($0) }
        var words = SendSources(paths: paths, texts: texts, urls: urls, programs: programs)
        (words.activity, words.canLeaveOut, words.leftOut) = (activity, false, { leftOut.append($0) })
        words.isRepaired = CommandWords.isRepaired
        let sources = try CommandError.of { () throws(WaftError) in try words.make() }
        // If no item is left, the failure says so.
        for fault in leftOut { Console.shared.note("waft: \(TerminalText.escaped(fault.message))") }
        items = sources.enumerated().map { index, source in
            let path = paths.indices.contains(index) && paths[index] != "-" ? paths[index] : nil
            return Item(source: source, path: path.map { URL(fileURLWithPath: $0).standardizedFileURL.path })
        }
        (self.paths, self.texts, self.urls, self.programs) = (paths, texts, urls, programs)
        self.subject = subject
    }

    private init(_ other: ShareItems, _ items: [Item]) {
        self.items = items
        (paths, texts, urls, programs) = (other.paths, other.texts, other.urls, other.programs)
        subject = other.subject
    }

    /// The same words for a chosen activity: programs are asked again, and may offer another type.
    func asked(for activity: String) throws(CommandError) -> ShareItems {
        if programs.isEmpty { return self }
        return try ShareItems(
            paths: paths, texts: texts, urls: urls, programs: programs, subject: subject, activity: activity)
    }

    /// Those that are no texts and no URLs.
    var others: ShareItems { ShareItems(self, items.filter { !$0.isWords }) }

    /// The subject that the only program among them gives.
    var givenSubject: String? { ProgramSource.subject(of: items.map(\.source)) }

    /// The name of the only item, or the number of items; not escaped.
    var title: String { items.count == 1 ? items[0].offered.name.text : "\(items.count) items" }

    /// Lines for people, escaped: the first few items with kind and size.
    var lines: [String] {
        let shown = items.prefix(Self.shownItems).map { item -> String in
            let size = item.offered.size.map { ", " + ByteCount.text($0) } ?? ""
            let name = TerminalText.escaped(item.offered.name.text, limit: 400)
            let type = TypeRegistry.system.name(of: item.offered.type)
            return "\(name)  \(TerminalText.escaped(type, limit: 80))\(size)"
        }
        return shown + (items.count > shown.count ? ["and \(items.count - shown.count) more"] : [])
    }

    private static let shownItems = 5

    /// The items as files; those that are none yet are made in the spool.
    /// - Returns: absolute paths.
    func files(in spool: ShareSpool) throws(CommandError) -> [String] {
        try items.map { item throws(CommandError) in
            if let path = item.path { return path }
            return try spool.add(item)
        }
    }
}
