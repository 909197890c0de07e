import Sharing

/// The last number given to each name that was taken. Without it each of thousands of items with one name would try all
/// numbers from 1.
struct LastNumbers {
    /// Maximum number of names remembered. Forgetting only costs time.
    static let limit = 4_096

    /// A name in the Inbox, or in a folder below it.
    struct EntryName: Hashable {
        var folder: SafeRelativePath?
        var name: SafeName
    }

    private var numbers: [EntryName: Int] = [:]

    subscript(place: EntryName) -> Int { numbers[place] ?? 0 }

    /// - Parameter number: 0 if the plain name was free: the earlier items with this name may have left the Inbox.
    mutating func remember(_ number: Int, for place: EntryName) {
        guard number > 0 else {
            numbers[place] = nil
            return
        }
        if numbers.count >= Self.limit { numbers.removeAll(keepingCapacity: true) }
        numbers[place] = max(number, self[place])
    }
}
