import Sharing

/// The deliveries for one handler: the ready ones in the order of arrival, and those that wait for a time.
struct DeliveryQueue {
    /// Rising; valid from `first` on. Arrivals come in order, so an insertion is nearly always an append.
    private var numbers: [ArrivalNumber] = []
    private var first = 0
    /// The ends of waits, by `DeliveryClock.uptime`.
    private var later: [ArrivalNumber: Duration] = [:]

    var ready: ArraySlice<ArrivalNumber> { numbers[first...] }
    var isEmpty: Bool { first == numbers.count && later.isEmpty }
    var nextDue: Duration? { later.values.min() }

    mutating func insert(_ number: ArrivalNumber) {
        if let last = numbers.last, first < numbers.count, number <= last {
            var (low, high) = (first, numbers.count)
            while low < high {
                let middle = (low + high) / 2
                if numbers[middle] < number { low = middle + 1 } else { high = middle }
            }
            if numbers[low] != number { numbers.insert(number, at: low) }
        } else {
            numbers.append(number)
        }
    }

    mutating func insert(_ number: ArrivalNumber, notBefore instant: Duration) {
        later[number] = instant
    }

    /// Moves due deliveries to the ready ones.
    mutating func wake(at now: Duration) {
        guard !later.isEmpty else { return }
        let due = later.filter { $0.value <= now }.keys
        for number in due {
            later[number] = nil
            insert(number)
        }
    }

    /// Removes ready deliveries from the queue.
    mutating func take(_ taken: some Collection<ArrivalNumber>) {
        if taken.count == 1, first < numbers.count, numbers[first] == taken.first {
            first += 1
        } else {
            let set = Set(taken)
            numbers = numbers[first...].filter { !set.contains($0) }
            first = 0
        }
        if first > 1_024, first * 2 > numbers.count {
            numbers.removeFirst(first)
            first = 0
        }
    }

    mutating func remove(_ number: ArrivalNumber) {
        later[number] = nil
        take([number])
    }
}
