import Sharing

/// Which number was given last to each name that was taken, so that thousands of items of one name do not try all the
/// numbers from 1 on each.
struct LastNumbers {
    /// Most names remembered. Forgetting costs time and nothing else.
    static let limit = 4_096

    /// A name in the Inbox, or in a folder below it.
    struct Place: Hashable {
        var folder: SafeRelativePath?
        var name: SafeName
    }

    private var numbers: [Place: Int] = [:]

    subscript(place: Place) -> Int { numbers[place] ?? 0 }

    /// - Parameter number: 0 if the plain name was free: what had it and its numbers may have left the Inbox.
    mutating func remember(_ number: Int, for place: Place) {
        guard number > 0 else {
            numbers[place] = nil
            return
        }
        if numbers.count >= Self.limit { numbers.removeAll(keepingCapacity: true) }
        numbers[place] = max(number, self[place])
    }
}
