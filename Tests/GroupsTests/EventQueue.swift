/// Events in the order of their simulated times; events of one time in the order in which they were added.
struct EventQueue<Event> {
    private struct Entry {
        var at: Int
        var number: Int
        var event: Event

        func precedes(_ other: Entry) -> Bool { at != other.at ? at < other.at : number < other.number }
    }

    private var heap: [Entry] = []
    private var count = 0

    mutating func add(_ event: Event, at time: Int) {
        count += 1
        heap.append(Entry(at: time, number: count, event: event))
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            if !heap[child].precedes(heap[parent]) { break }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    mutating func next() -> (at: Int, event: Event)? {
        guard let first = heap.first else { return nil }
        let last = heap.removeLast()
        if heap.isEmpty { return (first.at, first.event) }
        heap[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
                if heap[child].precedes(heap[least]) { least = child }
            }
            if least == parent { break }
            heap.swapAt(least, parent)
            parent = least
        }
        return (first.at, first.event)
    }
}
