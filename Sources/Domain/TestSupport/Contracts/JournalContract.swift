package import Sharing

/// The contract of every journal, the real one and the fake: the comments of both ports as checks.
///
/// Give it a journal that is empty, and facts to write down:
///
///     #expect(JournalContract(facts: { … }, open: { … }).violations() == [])
package final class JournalContract {
    private let facts: (Int) -> ArrivalFacts
    private let open: () throws -> any ArrivalJournal & DeliveryJournal
    private var broken: [String] = []

    /// - Parameters:
    ///   - facts: the facts of different arrivals, for different numbers.
    ///   - open: the journal as a new process would find it; called often, while no other one is in use.
    package init(
        facts: @escaping (Int) -> ArrivalFacts, open: @escaping () throws -> any ArrivalJournal & DeliveryJournal
    ) {
        self.facts = facts
        self.open = open
    }

    /// - Returns: the sentences of the contract that do not hold; empty for a good journal.
    package func violations() -> [String] {
        do {
            try arriving()
            try recognising()
            try attempting()
            try answering()
            try ending()
            try refusing()
            try departing()
        } catch {
            broken.append("an allowed call failed: \(error)")
        }
        return broken
    }

    private func expect(_ holds: Bool, _ sentence: String) {
        if !holds { broken.append(sentence) }
    }

    private func time(_ milliseconds: Int64) -> WallTime { WallTime(milliseconds: milliseconds) }

    private func intended(_ number: Int, isDelivered: Bool = true) -> IntendedArrival {
        IntendedArrival(
            facts: facts(number),
            identity: number.isMultiple(of: 2) ? FileIdentity(device: .max, inode: UInt64(number)) : nil,
            isDelivered: isDelivered)
    }

    private func stored(_ name: String) -> StoredItem { StoredItem(name: safe(name), path: "/Inbox/" + name) }

    private func isWaiting(_ number: ArrivalNumber) throws -> Bool { try delivery(number) != nil }

    private func delivery(_ number: ArrivalNumber) throws -> WaitingDelivery? {
        try open().waiting().first { $0.number == number }
    }

    /// Records `count` arrivals for delivery, and settles them.
    private func arrive(_ count: Int) throws -> [ArrivalNumber] {
        let numbers = try open().intend((0..<count).map { intended($0) })
        try open().settle(numbers.map { (number: $0, stored: stored("n\($0)")) })
        return numbers
    }

    // MARK: - Sentences

    private func departing() throws {
        let numbers = try arrive(2)
        try open().departed([], Departure(.removed, at: time(1)))
        try open().departed([numbers[0]], Departure(.taken, at: time(1), toward: "/elsewhere/n"))
        expect(try !isWaiting(numbers[0]), "an item that has left is not delivered")
        expect(try isWaiting(numbers[1]), "an item that has not left still waits")
        expect(try open().arrival(numbers[0]) != nil, "an item that has left is still known")
        expect(try !open().isThere(numbers[0]), "an item that has left is not there")
        expect(try open().isThere(numbers[1]), "an item that has not left is there")
        expect(try !open().isThere(ArrivalNumber(.max)), "an unknown number is not there")
        let later = try open().intend([intended(7)])
        expect(try !open().isThere(later[0]), "an unsettled arrival is not there")
        try open().settle([(number: later[0], stored: stored("n\(numbers[1])"))])
        expect(try !open().isThere(numbers[1]) && open().isThere(later[0]), "the item at a path is the latest arrival")
        try open().departed(later, Departure(.removed, at: time(1)))
        expect(try open().isThere(numbers[1]), "an arrival that has left lies at no path")
        do {
            try open().departed([numbers[1], ArrivalNumber(.max)], Departure(.removed, at: time(2)))
            expect(false, "an unknown number cannot leave")
        } catch {
            expect(try isWaiting(numbers[1]), "all that left is written down together, or nothing")
        }
        try open().end([numbers[1]], as: .no)
    }

    private func arriving() throws {
        expect(try open().waiting().isEmpty, "the journal that is checked is empty at first")
        expect(try open().intend([]).isEmpty, "nothing can be written down")
        try open().settle([])
        let numbers = try open().intend([intended(0), intended(1), intended(2, isDelivered: false), intended(3)])
        expect(numbers.count == 4, "there is a number for each arrival")
        expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }, "the numbers rise")
        expect(numbers.allSatisfy { $0.value >= 1 }, "the numbers are 1 and up")
        guard numbers.count == 4 else { return }
        expect(try open().waiting().isEmpty, "an unsettled arrival is not delivered")
        expect(try open().arrival(numbers[0]) == nil, "an unsettled arrival is not there")
        expect(try open().retry(numbers[0], at: time(1)) == nil, "an unsettled arrival cannot be delivered again")

        try open().settle([
            (number: numbers[0], stored: stored("a")), (number: numbers[1], stored: nil),
            (number: numbers[2], stored: stored("c")),
        ])
        expect(
            try open().arrival(numbers[0]) == Arrival(number: numbers[0], facts: facts(0), stored: stored("a")),
            "an arrival is as it was written down")
        expect(try open().arrival(numbers[1]) == nil, "an item that could not be moved in is forgotten")
        expect(try open().arrival(numbers[2])?.facts == facts(2), "an arrival without a handler is kept")
        expect(try open().arrival(numbers[3]) == nil, "an unsettled arrival is not there, even if others are")
        expect(try open().waiting().map(\.number) == [numbers[0]], "only arrivals with a delivery wait")
        let first = try delivery(numbers[0])
        expect(
            first?.attempts == 0 && first?.refusedBy == [] && first?.deferredSince == nil && first?.deferrals == 0,
            "a new delivery has no attempts, deferrals and refusals")
        expect(
            first?.transfer == facts(0).transfer && first?.peer == facts(0).peer,
            "a delivery names its transfer and peer")

        var elsewhere = intended(3)
        elsewhere.facts.destination = Destination(handler: safe("Album"), folder: try SafeRelativePath("Photos/2026"))
        let sent = try open().intend([elsewhere])[0]
        try open().settle([(number: sent, stored: StoredItem(name: safe("s"), path: "/Inbox/Photos/2026/s"))])
        expect(try open().arrival(sent)?.facts == elsewhere.facts, "where the user's rules sent it is kept")
        try open().end([sent], as: .no)

        try open().settle([(number: numbers[3], stored: nil)])
        let next = try open().intend([intended(4)])
        expect(next.allSatisfy { $0 > numbers[3] }, "the number of a forgotten arrival is not used again")
        try open().settle(next.map { (number: $0, stored: stored("d")) })
        expect(try open().waiting().map(\.number) == [numbers[0]] + next, "deliveries come by number")
    }

    private func recognising() throws {
        func written(_ number: Int, _ change: (inout ArrivalFacts) -> Void) -> IntendedArrival {
            var facts = facts(number)
            facts.transfer = transfer
            facts.item = item
            facts.size = 7
            change(&facts)
            return IntendedArrival(facts: facts, identity: nil, isDelivered: false)
        }
        let transfer = TransferID()
        let item = OfferedItem(kind: .file, name: safe("again.bin"), type: uniform("public.data"), size: 7)
        let (peer, other) = (facts(0).peer, PeerID.sample(255))
        expect(try open().arrivals(of: transfer, from: peer).isEmpty, "nothing has arrived of an unknown transfer")
        expect(try open().earlier(item, from: peer, limit: 9).isEmpty, "nothing has arrived before")
        let numbers = try open().intend([
            written(1) { $0.peer = peer }, written(2) { $0.peer = peer },
            written(3) {
                $0.peer = peer
                $0.item.name = safe("Again.bin")
            },
            written(4) {
                $0.peer = peer
                $0.item.kind = .text
            },
            written(5) {
                $0.peer = peer
                $0.size = 8
            }, written(6) { $0.peer = other },
            written(7) {
                $0.peer = peer
                $0.transfer = TransferID()
            }, written(8) { $0.peer = peer },
        ])
        try open().settle(numbers.dropLast().map { (number: $0, stored: stored("again-\($0)")) })
        expect(
            try open().arrivals(of: transfer, from: peer).map(\.number) == Array(numbers.prefix(5)),
            "the settled arrivals of a transfer are listed by item number")
        expect(
            try open().arrivals(of: transfer, from: other).map(\.number) == [numbers[5]],
            "the same id of another peer is another transfer")
        expect(
            try open().earlier(item, from: peer, limit: 9).map(\.number) == [numbers[6], numbers[1], numbers[0]],
            "equal items are listed, the latest first, and no others")
        expect(
            try open().known([safe("again.bin"), safe("Again.bin"), safe("new.bin")], from: peer)
                == [safe("again.bin"), safe("Again.bin")],
            "names are known by which a settled arrival has come, and no others")
        expect(
            try open().known([safe("again.bin")], from: .sample(254)).isEmpty, "a peer of which nothing came has none")
        expect(
            try open().earlier(item, from: peer, limit: 2).map(\.number) == [numbers[6], numbers[1]],
            "no more are listed than wanted")

        var sent = facts(9)
        (sent.peer, sent.item, sent.size, sent.transfer) = (peer, item, 7, TransferID())
        let again = try open().sendAgain(sent, of: numbers[6], isDelivered: true)
        expect(again.holder == numbers[6] && again.stored == stored("again-\(numbers[6])"), "it has the item's place")
        expect(try open().arrival(again.number) == again, "an item that was sent again is an arrival of its own")
        expect(
            try open().arrivals(of: sent.transfer, from: peer) == [again], "it belongs to its transfer, as others do")
        expect(try isWaiting(again.number), "its handlers are asked again")
        expect(try open().isThere(numbers[6]), "an item that was sent again is there")
        expect(try open().isThere(again.number), "the call for an item is there with it")
        expect(
            try open().earlier(item, from: peer, limit: 9).map(\.number) == [again.number, numbers[1], numbers[0]],
            "the latest call stands for its item")
        try open().departed([numbers[6]], Departure(.removed, at: time(9), toward: ""))
        expect(try !open().isThere(again.number), "a call leaves with its item")
        expect(try !isWaiting(again.number), "and is not made any more")
        expect(
            fails { _ = try open().sendAgain(sent, of: numbers[6], isDelivered: true) },
            "an item that has left is not sent again")
        try open().settle([(number: numbers[7], stored: nil)])
    }

    private func attempting() throws {
        let numbers = try arrive(2)
        expect(
            try open().began(numbers, handler: "org.example.one", at: time(5)) == [1, 1],
            "the first attempt has number 1")
        expect(try isWaiting(numbers[0]), "a delivery whose handler is being asked waits")
        expect(
            try open().began([numbers[1]], handler: "org.example.one", at: time(6)) == [2],
            "an attempt that never ended counts, and the next one can begin")
        expect(try delivery(numbers[0])?.attempts == 1, "attempts are counted for each delivery by itself")
        expect(try delivery(numbers[1])?.attempts == 2, "attempts of all times are counted")
        try open().ended(numbers, AttemptOutcome(.yes, exitCode: 0), next: .ended(.yes), at: time(7))
        expect(try !isWaiting(numbers[0]) && !isWaiting(numbers[1]), "a delivery that has ended does not wait")
        expect(try open().arrival(numbers[0]) != nil, "an arrival is there when its delivery has ended")
        expect(try open().began([], handler: "org.example.one", at: time(8)).isEmpty, "nothing can be begun")
    }

    private func answering() throws {
        let number = try arrive(1)[0]
        _ = try open().began([number], handler: "org.example.one", at: time(10))
        try open().ended(
            [number], AttemptOutcome(.later, exitCode: 75),
            next: .deferred(until: time(1_000), since: time(10), deferrals: 3), at: time(11))
        let deferred = try delivery(number)
        expect(
            deferred?.due == time(1_000) && deferred?.deferredSince == time(10) && deferred?.deferrals == 3,
            "a deferred delivery waits with its time and count")

        _ = try open().began([number], handler: "org.example.one", at: time(20))
        try open().ended([number], AttemptOutcome(.no), next: .refused(by: "org.example.one"), at: time(21))
        let refused = try delivery(number)
        expect(refused?.refusedBy == ["org.example.one"], "a handler that said no is remembered")
        expect(refused?.due == time(21), "the next handler can be asked at once")
        expect(
            refused?.deferredSince == time(10) && refused?.deferrals == 3,
            "the time that handlers have asked for counts for all of them")

        _ = try open().began([number], handler: "org.example.two", at: time(30))
        try open().ended([number], AttemptOutcome(.no), next: .refused(by: "org.example.two"), at: time(31))
        _ = try open().began([number], handler: "org.example.one", at: time(32))
        try open().ended([number], AttemptOutcome(.no), next: .refused(by: "org.example.one"), at: time(33))
        expect(
            try delivery(number)?.refusedBy == ["org.example.one", "org.example.two"],
            "all handlers that said no are remembered, each once, in order")

        let before = try delivery(number)
        _ = try open().began([number], handler: "org.example.three", at: time(40))
        try open().ended([number], AttemptOutcome(.later, signal: 15), next: .again, at: time(41))
        var expected = before
        expected?.attempts += 1
        expected?.due = time(41)
        expect(try delivery(number) == expected, "an attempt that counts for nothing changes nothing but its count")
    }

    private func ending() throws {
        for state in DeliveryState.allCases where state != .waiting {
            let number = try arrive(1)[0]
            try open().end([number], as: state)
            expect(try !isWaiting(number), "a delivery that was ended as \(state) does not wait")
            expect(
                try open().retry(number, at: time(50))?.number == number && isWaiting(number),
                "a delivery that was ended as \(state) can be begun again")
        }
        let number = try arrive(1)[0]
        _ = try open().began([number], handler: "org.example.one", at: time(60))
        try open().ended(
            [number], AttemptOutcome(.later), next: .deferred(until: time(900), since: time(60), deferrals: 9),
            at: time(61))
        _ = try open().began([number], handler: "org.example.one", at: time(62))
        try open().ended([number], AttemptOutcome(.no), next: .refused(by: "org.example.one"), at: time(63))
        try open().end([number], as: .parked)
        let anew = WaitingDelivery(
            number: number, transfer: facts(0).transfer, peer: facts(0).peer, due: time(70), attempts: 2)
        expect(
            try open().retry(number, at: time(70)) == anew && delivery(number) == anew,
            "a restarted delivery is due, without refusals and deferrals, and its attempts still count")
        expect(try open().retry(ArrivalNumber(.max), at: time(71)) == nil, "an unknown arrival cannot be begun again")
        try open().end([], as: .gone)
    }

    private func refusing() throws {
        let numbers = try arrive(2)
        let unsettled = try open().intend([intended(7)])[0]
        let before = try open().waiting()
        for missing in [ArrivalNumber(.max), ArrivalNumber(0), ArrivalNumber(.min), unsettled] {
            expect(
                fails { _ = try open().began([numbers[0], missing], handler: "org.example.one", at: time(80)) },
                "no delivery of an unknown or unsettled arrival can be begun")
            expect(
                fails { try open().end([numbers[0], missing], as: .gone) },
                "no delivery of an unknown or unsettled arrival can be ended")
        }
        expect(
            fails { try open().ended([numbers[0]], AttemptOutcome(.yes), next: .ended(.yes), at: time(81)) },
            "an attempt cannot end that has not begun")
        _ = try open().began([numbers[0]], handler: "org.example.one", at: time(82))
        expect(
            fails { try open().ended(numbers, AttemptOutcome(.yes), next: .ended(.yes), at: time(83)) },
            "attempts end together or not at all")
        try open().ended([numbers[0]], AttemptOutcome(.later), next: .again, at: time(84))
        expect(
            fails { try open().ended([numbers[0]], AttemptOutcome(.yes), next: .ended(.yes), at: time(85)) },
            "an attempt ends once")
        expect(
            fails {
                try open().settle([(number: unsettled, stored: stored("x")), (number: numbers[0], stored: nil)])
            },
            "an arrival is settled once")
        expect(
            fails {
                try open().settle([(number: unsettled, stored: nil), (number: ArrivalNumber(.max), stored: nil)])
            },
            "an unknown arrival cannot be settled")
        try open().settle([(number: unsettled, stored: nil)])
        expect(
            try open().waiting().map(\.number) == before.map(\.number),
            "a call that fails changes nothing")
        expect(try delivery(numbers[1]) == before.last, "a call that fails changes none of its deliveries")
        expect(
            fails { try open().settle([(number: unsettled, stored: stored("x"))]) },
            "a forgotten arrival cannot be settled")
    }

    private func fails(_ body: () throws -> Void) -> Bool {
        do { try body() } catch { return true }
        return false
    }
}
