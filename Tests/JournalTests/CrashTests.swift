import Journal
import Sharing
import TestSupport
import Testing

@Suite("A journal's confirmed entries outlive the process", .timeLimit(.minutes(2)))
struct CrashTests {
    @Test("that is killed at any moment, again and again", arguments: [1, 2, 3] as [UInt64])
    func kills(seed: UInt64) throws {
        let folder = TemporaryFolder()
        var told = Told()
        var random = SplitMix(state: seed)
        for round in 0..<25 {
            let probe = try Probe("write", folder.path, "\(seed * 1_000 + UInt64(round))")
            // Reads some lines, then waits for a moment in the calls that follow.
            // Some rounds last long enough for SQLite to move the log into the file.
            for _ in 0..<random.next(round.isMultiple(of: 8) ? 400 : 50) {
                guard let line = probe.line() else { break }
                told.hear(line)
            }
            for _ in 0..<random.next(20) * random.next(4_000) { told.spin() }
            probe.kill()
            #expect(probe.wait() == -9, "it goes on until it is killed")
            while let line = probe.line() { told.hear(line) }
            #expect(told.faults == [])
            // The log is as the crash left it; only in some rounds a writer repairs it.
            if round.isMultiple(of: 3) {
                told.left = Set(try Journal(folder: folder.path).unsettled().map(\.number.value))
            } else {
                told.left = nil
            }
            #expect(told.missing(in: JournalReader(folder: folder.path), all: round == 24) == [])
            #expect(try unsoundness(folder.path) == [])
        }
        #expect(told.settled.count > 40, "enough was written to speak of")
    }
}

/// The reports of a process that wrote, and of its predecessors.
private struct Told {
    var settled: Set<Int64> = []
    private var intended: Set<Int64> = []
    private var forgotten: Set<Int64> = []
    private var began: [Int64: Int] = [:]
    private var ended: [Int64: [Int: String]] = [:]
    private(set) var faults: [String] = []
    /// The arrivals that wait to be settled; nil if they were not read.
    var left: Set<Int64>?
    /// The arrivals that were reported since the last call of `missing`.
    private var latest: Set<Int64> = []
    private var spins = 0

    mutating func spin() { spins &+= 1 }

    mutating func hear(_ line: String) {
        let words = line.split(separator: " ")
        let numbers = words.dropFirst().compactMap { Int64($0) }
        guard let number = numbers.first else {
            faults.append(line)
            return
        }
        latest.formUnion(words[0] == "intended" ? numbers : [number])
        switch words.first {
        case "intended": intended.formUnion(numbers)
        case "settled": settled.insert(number)
        case "forgotten": forgotten.insert(number)
        case "began": began[number] = Int(numbers[1])
        case "ended": ended[number, default: [:]][Int(numbers[1])] = words.last.map(String.init)
        default: faults.append(line)
        }
    }

    /// The false statements among the reports since the last call, or among all reports.
    mutating func missing(in reader: JournalReader, all: Bool) -> [String] {
        defer { latest = [] }
        do { return try find(all ? intended : latest, in: reader) } catch {
            return ["the journal cannot be read: \(error)"]
        }
    }

    private func find(_ numbers: Set<Int64>, in reader: JournalReader) throws -> [String] {
        var missing: [String] = []
        for number in numbers {
            let entry = try reader.entry(ArrivalNumber(number))
            // By the probe's rule, arrivals with odd numbers could not be moved in.
            if entry != nil, number % 2 != 0 { missing.append("\(number) is there and could not be moved in") }
            if settled.contains(number), entry == nil { missing.append("\(number) was settled") }
            if let left, entry == nil, number.isMultiple(of: 2), !left.contains(number) {
                missing.append("\(number) was intended, and is neither settled nor left")
            }
            if let left, left.contains(number), settled.contains(number) || forgotten.contains(number) {
                missing.append("\(number) was settled, and is left")
            }
            guard let entry else { continue }
            let name = entry.arrival.item.name.text
            if entry.arrival.senderName != "sender of " + name || entry.arrival.stored.name.text != name {
                missing.append("\(number) is torn")
            }
            let attempts = entry.attempts
            if attempts.count < began[number] ?? 0 { missing.append("\(number): an attempt that began") }
            if attempts.map(\.number) != Array(1..<(attempts.count + 1)) || entry.attemptCount != attempts.count {
                missing.append("\(number): attempts are not numbered from 1")
            }
            for (attempt, answer) in ended[number] ?? [:] {
                if !attempts.contains(where: { $0.number == attempt && $0.outcome?.answer.rawValue == answer }) {
                    missing.append("\(number): attempt \(attempt) that ended with \(answer)")
                }
            }
        }
        return missing
    }
}

/// Pseudo-random numbers, the same for the same seed.
private struct SplitMix {
    var state: UInt64

    mutating func next(_ bound: UInt64) -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return (mixed ^ (mixed >> 31)) % bound
    }
}
