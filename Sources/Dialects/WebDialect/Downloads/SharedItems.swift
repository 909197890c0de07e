import Sharing
import WebPages

/// An item that guests can download.
struct SharedItem: Sendable {
    /// From 1.
    let number: Int
    /// Different from the names of the others.
    let name: SafeName
    let source: any ItemSource

    var isTree: Bool { source.offered.kind == .tree }
    var size: UInt64 { source.offered.size ?? 0 }
    /// The name of the download: of a tree, that of its ZIP.
    var fileName: String { isTree ? name.text + ".zip" : name.text }
    /// Seen from the page.
    var path: String { "d/\(number)/" + URLText.encoded(fileName) }
}

/// The items of a session.
struct SharedItems: Sendable {
    let all: [SharedItem]

    init(_ sources: [any ItemSource]) {
        var taken: Set<SafeName> = []
        all = sources.prefix(WebLimits.sharedItems).enumerated().map { index, source in
            SharedItem(number: index + 1, name: source.offered.name.free(&taken), source: source)
        }
    }

    /// - Parameter number: as in a path.
    subscript(number: String) -> SharedItem? {
        guard number.utf8.count <= 6, let number = Int(number), (1...max(all.count, 1)).contains(number), !all.isEmpty
        else { return nil }
        return all[number - 1]
    }

    /// One line for each item: number, size and name.
    var lines: String {
        all.map { "\($0.number)\t\($0.size)\t\(PathText.printable($0.fileName))\n" }.joined()
    }
}
