/// Numbered work that is tried until it is done: the order of the attempts, and the times before which none begins.
///
/// ```
///            put(notBefore:)           wake            begin
///     (new) ────────────────▶ waiting ──────▶ ready ─────────▶ underWay ──▶ (remove)
///        │                       ▲              ▲                 │
///        └───────────────────────┼──────────────┘                 │
///                                └──────────────┴─────── put ─────┘
/// ```
///
/// It has no clock and no task of its own. All times are times since a fixed moment, by the clock of the loop that has it.
package struct RetryLedger<Number: Hashable & Comparable & Sendable>: Sendable {
    package enum State: Hashable, Sendable {
        case waiting(until: Duration)
        case ready
        case underWay
    }

    /// The ready ones, rising; valid from `first` on. New numbers are mostly the highest, so that an insertion is mostly
    /// an append.
    private var numbers: [Number] = []
    private var first = 0
    /// The ends of the waits.
    private var waiting: [Number: Duration] = [:]
    package private(set) var underWay: Set<Number> = []

    package init() {}

    /// The numbers whose attempts can begin, rising.
    package var ready: ArraySlice<Number> { numbers[first...] }
    /// Whether nothing is under way.
    package var isIdle: Bool { underWay.isEmpty }
    package var isEmpty: Bool { first == numbers.count && waiting.isEmpty && underWay.isEmpty }
    /// When the next wait ends; nil if none waits.
    package var nextDue: Duration? { waiting.values.min() }

    package func state(of number: Number) -> State? {
        if underWay.contains(number) { return .underWay }
        if let until = waiting[number] { return .waiting(until: until) }
        let index = index(of: number)
        return index < numbers.count && numbers[index] == number ? .ready : nil
    }

    /// Takes up work, whatever its state was.
    /// - Parameter instant: the end of its wait; nil if it is ready.
    package mutating func put(_ number: Number, notBefore instant: Duration? = nil) {
        remove(number)
        if let instant {
            waiting[number] = instant
        } else {
            numbers.insert(number, at: index(of: number))
        }
    }

    /// The work whose wait has ended is ready.
    /// - Returns: that work, in no order.
    @discardableResult
    package mutating func wake(at now: Duration) -> [Number] {
        guard !waiting.isEmpty else { return [] }
        let due = waiting.filter { $0.value <= now }.map(\.key)
        for number in due { put(number) }
        return due
    }

    /// An attempt at ready work begins.
    package mutating func begin(_ number: Number) {
        precondition(state(of: number) == .ready, "only ready work begins")
        remove(number)
        underWay.insert(number)
    }

    package mutating func remove(_ number: Number) {
        underWay.remove(number)
        waiting[number] = nil
        let index = index(of: number)
        guard index < numbers.count, numbers[index] == number else { return }
        guard index == first else {
            numbers.remove(at: index)
            return
        }
        first += 1
        if first == numbers.count || first > 1_024 && first * 2 > numbers.count {
            numbers.removeFirst(first)
            first = 0
        }
    }

    /// Forgets all work that is not under way.
    package mutating func removeUnbegun() {
        (numbers, first, waiting) = ([], 0, [:])
    }

    /// The place of a number among the ready ones.
    private func index(of number: Number) -> Int {
        if let last = numbers.last, last < number { return numbers.count }
        var (low, high) = (first, numbers.count)
        while low < high {
            let middle = (low + high) / 2
            if numbers[middle] < number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// When a loop wants its next event of time, as its timer knows it.
package struct LoopAlarm: Sendable {
    /// By the clock of the loop; nil if the timer is not set.
    package private(set) var due: Duration?

    package init() {}

    /// - Returns: whether the timer must be set anew, or cancelled for nil.
    package mutating func move(to next: Duration?) -> Bool {
        defer { due = next }
        return next != due
    }

    /// The timer has ended.
    package mutating func rang() { due = nil }
}
