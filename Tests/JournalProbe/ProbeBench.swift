import Foundation
import Journal
import Sharing

/// Measures calls a second, in sequence, each on the disk when it returns; and the maximum that the disk allows.
struct ProbeBench {
    let folder: String
    let count: Int

    func run() throws {
        try report("append 4 KiB, fdatasync") { try append(to: folder + "/bare") }
        try measure()
        try measureOpening()
    }

    private func measure() throws {
        let journal = try Journal(folder: folder, dialects: .probe)
        var numbers: [ArrivalNumber] = []
        try report("intend(1) + settle(1)") {
            for index in 0..<count {
                guard let arrival = ProbeFacts.arrival("n\(index)", isDelivered: true, note: 1) else { return }
                let number = try journal.intend([arrival])[0]
                try journal.settle([(number: number, stored: StoredItem(name: arrival.facts.item.name, path: "/n"))])
                numbers.append(number)
            }
        }
        try report("began(1) + ended(1)") {
            for number in numbers {
                _ = try journal.began([number], handler: "org.example.bench", at: WallTime(milliseconds: 0))
                try journal.ended(
                    [number], AttemptOutcome(.yes, exitCode: 0), next: .ended(.yes), at: WallTime(milliseconds: 0))
            }
        }
        try report("append 4 KiB, fdatasync, again") { try append(to: folder + "/bare") }
        try report("JournalReader.entries(latest: 20)", 20) {
            for _ in 0..<20 { _ = try JournalReader(folder: folder, dialects: .probe).entries(latest: 20) }
        }
        let many = (0..<512).compactMap { ProbeFacts.arrival("m\($0)", isDelivered: true, note: 1) }
        var intended: [ArrivalNumber] = []
        try report("intend(512) (in all)", 1) { intended = try journal.intend(many) }
        try report("settle(512) (in all)", 1) {
            try journal.settle(
                zip(intended, many).map { (number: $0, stored: StoredItem(name: $1.facts.item.name, path: "/n")) })
        }
    }

    /// Measures the time to open a journal of 20,000 arrivals.
    private func measureOpening() throws {
        do {
            let journal = try Journal(folder: folder, dialects: .probe)
            for batch in 0..<40 {
                _ = try journal.intend(
                    (0..<512).compactMap { ProbeFacts.arrival("b\(batch)-\($0)", isDelivered: true, note: 1) })
            }
        }
        var journal: Journal?
        try report("Journal(folder:) of 20,000", 1) { journal = try Journal(folder: folder, dialects: .probe) }
        withExtendedLifetime(journal) {}
    }

    private func report(_ what: String, _ calls: Int? = nil, _ body: () throws -> Void) throws {
        let calls = calls ?? count
        let seconds = try ContinuousClock().measure(body) / .seconds(1)
        tell(
            "\(what): \(Int(Double(calls) / seconds)) a second, \(Int(seconds / Double(calls) * 1_000_000)) µs each")
    }

    private func append(to path: String) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        defer { close(file) }
        let page = [UInt8](repeating: 42, count: 4_096)
        for _ in 0..<count {
            guard write(file, page, page.count) == page.count, fdatasync(file) == 0 else {
                throw JournalError("could not append: \(String(cString: strerror(errno)))")
            }
        }
    }
}
