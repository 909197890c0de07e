import Journal
import Sharing

/// A receiver that only writes its journal. It settles the leftovers of its predecessor, and runs until it is killed.
struct ProbeWriter {
    private let journal: Journal
    private let seed: UInt64
    private var random: UInt64
    private var count = 0

    init(folder: String, seed: UInt64) throws {
        journal = try Journal(folder: folder, dialects: .probe, unreadable: { fault in tell("fault \(fault)") })
        self.seed = seed
        random = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    }

    private mutating func next(_ bound: UInt64) -> UInt64 {
        random ^= random << 13
        random ^= random >> 7
        random ^= random << 17
        return random % bound
    }

    mutating func run() throws {
        let left = try journal.unsettled()
        if !left.isEmpty { try settle(left.map { (number: $0.number, name: $0.name) }) }
        for delivery in try journal.waiting() { try deliver([delivery.number]) }
        while true {
            let intended = (0...next(4)).compactMap { _ -> IntendedArrival? in
                count += 1
                return ProbeFacts.arrival("n\(seed)-\(count)", isDelivered: true)
            }
            let numbers = try journal.intend(intended)
            tell("intended " + numbers.map(\.description).joined(separator: " "))
            let stored = try settle(zip(numbers, intended).map { (number: $0, name: $1.facts.item.name) })
            try deliver(stored)
        }
    }

    /// - Returns: the arrivals in the Inbox: those with even numbers. The others could not be moved in.
    @discardableResult
    private func settle(_ arrivals: [(number: ArrivalNumber, name: SafeName)]) throws -> [ArrivalNumber] {
        try journal.settle(
            arrivals.map { arrival in
                let stored = StoredItem(name: arrival.name, path: "/Inbox/" + arrival.name.text)
                return (number: arrival.number, stored: arrival.number.value.isMultiple(of: 2) ? stored : nil)
            })
        let stored = arrivals.map(\.number).filter { $0.value.isMultiple(of: 2) }
        for number in arrivals.map(\.number) {
            tell((stored.contains(number) ? "settled " : "forgotten ") + number.description)
        }
        return stored
    }

    private mutating func deliver(_ numbers: [ArrivalNumber]) throws {
        if numbers.isEmpty { return }
        let attempts = try journal.began(numbers, handler: "org.example.probe", at: WallTime(milliseconds: 1))
        for (number, attempt) in zip(numbers, attempts) { tell("began \(number) \(attempt)") }
        let answers: [(AttemptOutcome, DeliveryStep)] = [
            (AttemptOutcome(.yes, exitCode: 0), .ended(.yes)),
            (
                AttemptOutcome(.failed, exitCode: 3, standardError: String(repeating: "no ", count: 1_000)),
                .ended(.failed)
            ),
            (AttemptOutcome(.no, exitCode: 1), .refused(by: "org.example.probe")),
            (
                AttemptOutcome(.later, exitCode: 75),
                .deferred(until: WallTime(milliseconds: 9), since: WallTime(milliseconds: 2), deferrals: 1)
            ),
        ]
        let (outcome, step) = answers[Int(next(UInt64(answers.count)))]
        try journal.ended(numbers, outcome, next: step, at: WallTime(milliseconds: 3))
        for (number, attempt) in zip(numbers, attempts) {
            tell("ended \(number) \(attempt) \(outcome.answer.rawValue)")
        }
    }
}
