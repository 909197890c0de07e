import Sharing

/// Which number was given last to each name that was taken, so that thousands of items of one name do not try all the
/// numbers from 1 on each.
struct LastNumbers {
    /// Most names remembered. Forgetting costs time and nothing else.
    static let limit = 4_096

    private var numbers: [SafeName: Int] = [:]

    subscript(name: SafeName) -> Int { numbers[name] ?? 0 }

    mutating func remember(_ number: Int, for name: SafeName) {
        if numbers.count >= Self.limit { numbers.removeAll(keepingCapacity: true) }
        numbers[name] = max(number, self[name])
    }
}
