/// Events in the order of their simulated times; events of one time in the order in which they were added.
struct EventQueue<Event> {
    private struct Entry {
        var at: Int
        var number: Int
        /// In `events`: small entries are quick to exchange.
        var index: Int

        func precedes(_ other: Entry) -> Bool { at != other.at ? at < other.at : number < other.number }
    }

    private var heap: [Entry] = []
    private var events: [Event?] = []
    private var free: [Int] = []
    private var count = 0

    mutating func add(_ event: Event, at time: Int) {
        let index: Int
        if let old = free.popLast() {
            index = old
            events[index] = event
        } else {
            index = events.count
            events.append(event)
        }
        count += 1
        heap.append(Entry(at: time, number: count, index: index))
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            if !heap[child].precedes(heap[parent]) { break }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    mutating func next() -> (at: Int, event: Event)? {
        guard let first = heap.first, let event = events[first.index] else { return nil }
        events[first.index] = nil
        free.append(first.index)
        let last = heap.removeLast()
        if heap.isEmpty { return (first.at, event) }
        heap[0] = last
        var parent = 0
        while true {
            var least = parent
            var child = 2 * parent + 1
            while child < min(heap.count, 2 * parent + 3) {
                if heap[child].precedes(heap[least]) { least = child }
                child += 1
            }
            if least == parent { break }
            heap.swapAt(least, parent)
            parent = least
        }
        return (first.at, event)
    }
}
