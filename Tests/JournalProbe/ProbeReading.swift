import Foundation
import Journal
import Sharing

/// Reads a journal that another process writes: no entry may be torn, and none may disappear.
struct ProbeReading {
    private let reader: JournalReader

    init(folder: String) {
        reader = JournalReader(folder: folder, dialects: .probe) { fault in tell("fault \(fault)") }
    }

    func run() throws {
        var latest = ArrivalNumber(0)
        while !inputHasEnded {
            let entries = try reader.entries(latest: 50)
            for (one, next) in zip(entries, entries.dropFirst()) where one.arrival.number <= next.arrival.number {
                tell("fault entries \(one.arrival.number) and \(next.arrival.number) are out of order")
            }
            for entry in entries where !ProbeFacts.isWhole(entry.arrival) {
                tell("fault arrival \(entry.arrival.number) is torn")
            }
            let first = entries.first?.arrival.number ?? latest
            if first < latest { tell("fault arrival \(latest) has gone") }
            latest = first
            if let entry = try reader.entry(latest), entry.attempts.count != entry.attemptCount {
                tell("fault arrival \(latest) has \(entry.attempts.count) of \(entry.attemptCount) attempts")
            }
            _ = try reader.summary()
            tell("looked \(latest)")
        }
    }

    private var inputHasEnded: Bool {
        var input = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
        return poll(&input, 1, 0) > 0
    }
}
