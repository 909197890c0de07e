import Sharing

/// The places of a question's items in the archive.
struct AnnouncedPlaces {
    /// Item numbers by the paths of their members. Files with the same path come in the order of the question.
    private var items: [String: [Int]] = [:]
    /// Paths of the announced folders.
    private var trees: Set<String> = []
    /// Folders of the archive that contain announced items.
    private var folders: Set<String> = []
    /// Number of names in the longest path of an announced item.
    private var depth = 0

    var isEmpty: Bool { items.isEmpty }

    /// - Throws: `protocolViolation` if a folder and another item have the same place.
    mutating func add(_ number: Int, _ kind: ItemKind, at path: MemberPath) throws(TransferError) {
        if items[path.text] != nil, kind == .tree || trees.contains(path.text) {
            throw .malformed("two items in one place, one of them a folder")
        }
        items[path.text, default: []].append(number)
        if kind == .tree { trees.insert(path.text) }
        depth = max(depth, path.names.count)
        for count in 1..<path.names.count { folders.insert(path.names.prefix(count).joined(separator: "/")) }
    }

    /// The numbers of the items at a place; nil if none was announced.
    subscript(_ place: String) -> [Int]? { items[place] }

    /// Finds the announced item that is the member or contains it.
    /// - Returns: the item's place, and the number of names in it; nil if no announced item fits.
    func item(of member: MemberPath) -> (place: String, depth: Int)? {
        var place = ""
        for (index, name) in member.names.prefix(depth).enumerated() {
            place += index == 0 ? String(name) : "/" + name
            if items[place] != nil { return (place, index + 1) }
        }
        return nil
    }

    /// Whether a member is the root of the archive, or a folder around announced items.
    func isAround(_ member: MemberPath) -> Bool { member.names.isEmpty || folders.contains(member.text) }
}
