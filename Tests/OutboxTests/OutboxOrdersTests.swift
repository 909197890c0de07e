import ItemSources
import Sharing
import TestSupport
import Testing

@testable import Outbox

@Suite("The ledger of the outbox, in random orders")
struct OutboxOrdersTests {
    @Test("each item arrives once, each end is reported, no cancellation is lost, and no job waits for ever")
    func orders() {
        #expect(brokenStory(400, steps: 60, of: { _ in OutboxWorld() }) == nil)
    }
}

/// A ledger with a model of the disk, the peers, the user and the clocks.
private struct OutboxWorld: OrderedWorld {
    typealias Record = OutboxStore.Record
    typealias Action = OutboxLedger.Action

    /// An attempt, as the network sees it.
    private struct Attempt {
        var record: Record
        var wasOffered: Bool
        /// The peer, as far as it was known when it began.
        let peer: String
        var isBrokenOff = false
        var isNotified = false
        /// Whether its peer has appeared since it began.
        var hasPeerAppeared = false
        /// When it last advanced.
        var moved: Duration?
    }

    private enum Event {
        case queue, look
        case appear(Int)
        case queueAndLook
        case time(Int)
        case due
        case setClock(Int64)
        case trust, fault, repair
        case offer(JobNumber)
        case move(JobNumber)
        case store(JobNumber, isWhole: Bool)
        case end(JobNumber, Int)
        case cancel(JobNumber)
        case retry(JobNumber)
        case foreignCancel(JobNumber)
        case remove(JobNumber)
        case reported(JobNumber)
        case farewellIsOver(JobNumber)
        case stop, restart, kill
    }

    private static let places = 2
    private static let peers = 5
    private static let ids = (1...peers).map { PeerID.sample(UInt8($0)) }
    private static let item = OutboxItem(TextSource("x").offered, origin: "text", content: .text("x"))
    private static let failures = [
        OutboxJobError(.peerNotFound, "nobody", isFinal: false), OutboxJobError(.noAnswer, "busy", isFinal: false),
        OutboxJobError(.unreachable, "no way", isFinal: false), OutboxJobError(.declined, "no", isFinal: true),
    ]

    private var ledger = OutboxLedger(places: Self.places, at: .zero)
    private var uptime = Duration.zero
    /// Milliseconds that the wall clock was set forward.
    private var setForward: Int64 = 0
    private var isTrusted = false
    /// Where the trusted clock was set forward when it became trusted.
    private var trustedForward: Int64 = 0
    private var alarm: Duration?
    private var isWatching = false
    private var isFaulty = false
    private var disk: [JobNumber: Record] = [:]
    private var lastNumber = 0
    private var attempts: [JobNumber: Attempt] = [:]
    private var farewells: [JobNumber] = []
    private var reports: [JobNumber: Record] = [:]
    /// The items that a peer has, by transfer: a second arrival is a fault.
    private var arrived: [String: Set<Int>] = [:]
    private var cancelled: Set<JobNumber> = []
    private var hasReported: Set<JobNumber> = []
    /// Jobs that could not be read once: they are left alone until the next start.
    private var unreadable: Set<JobNumber> = []
    private var faults: [String] = []

    init() {
        perform(ledger.due(at: now))
        dispatch()
    }

    // MARK: Events

    mutating func step(_ dice: inout SeededNumbers) -> String {
        var events: [Event] = [.queue, .queueAndLook, .queueAndLook, .look, .time(3), .time(40), .due, .due]
        events += [.appear(Int.random(in: 0..<Self.peers, using: &dice))]
        switch Int.random(in: 0..<12, using: &dice) {
        case 0: events.append(isFaulty ? .repair : .fault)
        case 1: events.append(.setClock(Int64.random(in: -4_000_000...4_000_000, using: &dice)))
        case 2: events.append(.trust)
        case 3: events += [.time(301), .time(301), .time(2_500)]
        case 4: events += [.stop, .kill]
        default: break
        }
        if isFaulty { events.append(.repair) }
        if let job = disk.keys.sorted().randomElement(using: &dice) {
            events += [.cancel(job), .retry(job), .foreignCancel(job), .remove(job)]
        }
        events += progress()
        let event = events.randomElement(using: &dice) ?? .look
        happen(event, &dice)
        return "\(event)"
    }

    /// What is under way on the network and for the user.
    private func progress() -> [Event] {
        var events: [Event] = []
        for (number, attempt) in attempts.sorted(by: { $0.key < $1.key }) {
            events += [.end(number, 0), .end(number, 1), .end(number, 2), .end(number, 3)]
            guard !attempt.isBrokenOff else { continue }
            events += [.offer(number), .move(number), .store(number, isWhole: true), .store(number, isWhole: false)]
        }
        return events + reports.keys.sorted().map { .reported($0) } + farewells.map { .farewellIsOver($0) }
            + (ledger.isStopping && ledger.isIdle ? [.restart, .restart] : [])
    }

    mutating func settle(_ dice: inout SeededNumbers) {
        happen(.repair, &dice)
        happen(.trust, &dice)
        if !ledger.isStopping { happen(.look, &dice) }
        for _ in 0..<500 {
            if let report = reports.keys.sorted().first {
                happen(.reported(report), &dice)
            } else if let farewell = farewells.first {
                happen(.farewellIsOver(farewell), &dice)
            } else if let number = attempts.keys.sorted().randomElement(using: &dice) {
                let isCut = attempts[number].map { $0.isBrokenOff || disk[number]?.standing.state != .sending } ?? true
                happen(isCut ? .end(number, 2) : .store(number, isWhole: true), &dice)
            } else if !ledger.isStopping, disk.values.contains(where: { !$0.standing.state.isFinal }) {
                guard alarm != nil else { return faults.append("nothing will happen to an open job") }
                happen(.due, &dice)
            } else {
                return
            }
        }
        faults.append("it has no end")
    }

    private var now: OutboxLedger.Moment {
        let passed = Int64(uptime / .milliseconds(1))
        let wall = someTime.milliseconds + passed + setForward
        let trusted = min(wall, someTime.milliseconds + passed + trustedForward)
        return OutboxLedger.Moment(
            uptime: uptime, wall: WallTime(milliseconds: wall),
            today: isTrusted ? WallTime(milliseconds: trusted) : nil)
    }

    private mutating func happen(_ event: Event, _ dice: inout SeededNumbers) {
        switch event {
        case .queue: queue(&dice)
        case .queueAndLook:
            queue(&dice)
            perform(ledger.lookAgain(at: now))
        case .look: perform(ledger.lookAgain(at: now))
        case .appear(let peer):
            guard isWatching else { return }
            let appearance = OutboxAppearance(id: Self.ids[peer], name: "peer-\(peer)")
            for (number, attempt) in attempts where appearance.matches(attempt.record) {
                attempts[number]?.hasPeerAppeared = true
            }
            ledger.appeared(appearance)
        case .time(let seconds): pass(.seconds(seconds))
        case .due: pass((alarm ?? uptime) - uptime)
        case .setClock(let change): setForward += change
        case .trust:
            if !isTrusted { trustedForward = setForward }
            isTrusted = true
        case .fault: isFaulty = true
        case .repair: isFaulty = false
        case .offer(let number):
            guard let attempt = attempts[number], let peer = peer(of: attempt.record) else { return }
            let result = change(number) { _, standing in
                guard standing.state == .sending else { return false }
                standing.offer(as: attempt.record.transfer, nil, to: peer, callingItself: nil)
                return true
            }
            if case .record(let record) = result {
                attempts[number]?.record = record
            } else {
                end(number, OutboxResult(failure: Self.failures[2]))
            }
        case .move(let number): attempts[number]?.moved = uptime
        case .store(let number, let isWhole): store(number, isWhole: isWhole, &dice)
        case .end(let number, let failure):
            let isOffered = attempts[number]?.record.standing.wasOffered == true
            end(number, OutboxResult(failure: Self.failures[isOffered && failure == 0 ? 1 : failure]))
        case .cancel(let number): cancel(number)
        case .retry(let number):
            guard !ledger.isUnderWay(number) else { return }
            let now = now
            guard case .record(let record) = change(number, { $1.retry($0, at: now.wall) }) else { return }
            hasReported.remove(number)
            perform(ledger.enter(record, at: now))
        case .foreignCancel(let number):
            // While it is being sent, commands ask the daemon.
            guard disk[number]?.standing.state != .sending else { return }
            let now = now
            if case .record = change(number, { $1.cancel(at: now.wall) }) { cancelled.insert(number) }
        case .remove(let number):
            if disk[number]?.standing.state.isFinal == true { disk[number] = nil }
        case .reported(let number):
            guard let record = reports.removeValue(forKey: number) else { return }
            var isSuperseded = false
            _ = change(number) { _, standing in
                isSuperseded = standing != record.standing
                if !isSuperseded { standing.isReported = true }
                return !isSuperseded
            }
            perform(ledger.reported(number, isSuperseded: isSuperseded))
        case .farewellIsOver(let number):
            farewells.removeAll { $0 == number }
            perform(ledger.farewellIsOver(number))
        case .stop: perform(ledger.stop())
        case .restart, .kill:
            // Reports that were cut off are made again.
            (attempts, farewells, reports, alarm, isWatching) = ([:], [], [:], nil, false)
            (isTrusted, unreadable) = (false, [])
            ledger = OutboxLedger(places: Self.places, at: uptime)
            perform(ledger.due(at: now))
        }
        dispatch()
    }

    private mutating func queue(_ dice: inout SeededNumbers) {
        lastNumber += 1
        let peer = Int.random(in: 0..<Self.peers, using: &dice)
        let job = OutboxJob(
            number: JobNumber(lastNumber), queued: now.wall,
            expires: WallTime(milliseconds: now.wall.milliseconds + 3_000_000),
            destination: .init(text: "peer-\(peer)", key: Bool.random(using: &dice) ? Self.ids[peer] : nil),
            options: .init(group: [nil, "lab", "class"].randomElement(using: &dice) ?? nil),
            items: Array(repeating: Self.item, count: Int.random(in: 1...2, using: &dice)))
        disk[job.number] = Record(job: job, standing: JobStatus(job))
    }

    private func peer(of record: Record) -> PeerID? {
        Self.ids.first { $0 == record.job.destination.key }
            ?? record.standing.peer ?? record.job.destination.text.last?.wholeNumberValue.map { Self.ids[$0] }
    }

    private mutating func pass(_ time: Duration) {
        let end = uptime + max(time, .zero)
        while let alarm, alarm <= end, !ledger.isStopping {
            uptime = max(uptime, alarm)
            self.alarm = nil
            perform(ledger.due(at: now))
            dispatch()
            if let next = self.alarm, next <= uptime { return faults.append("the alarm goes off at once, for ever") }
        }
        uptime = max(uptime, end)
    }

    /// The attempt offers what the peer has not, stores it, and ends.
    private mutating func store(_ number: JobNumber, isWhole: Bool, _ dice: inout SeededNumbers) {
        guard let attempt = attempts[number] else { return }
        let transfer = attempt.record.standing.transfer
        if !attempt.record.standing.wasOffered {
            happen(.offer(number), &dice)
            // The offer is not on the disk: the attempt has ended.
            guard attempts[number] != nil else { return }
        }
        let open = attempt.record.job.items.indices.filter { attempt.record.standing.outcomes[$0] == nil }
        // An offer that the disk knew before is asked for by its receipt.
        let known = attempt.wasOffered ? arrived[transfer, default: []] : []
        let sent = isWhole ? open : Array(open.prefix(1))
        for item in sent where !known.contains(item) {
            if !arrived[transfer, default: []].insert(item).inserted { faults.append("an item arrives twice") }
        }
        // The receipt may be lost.
        let isAcknowledged = Int.random(in: 0..<4, using: &dice) != 0
        let outcomes = isAcknowledged ? sent.map { ($0, SettledItem.stored("item")) } : []
        let isAll = isAcknowledged && sent.count == open.count
        end(
            number,
            OutboxResult(
                outcomes: Dictionary(uniqueKeysWithValues: outcomes), failure: isAll ? nil : Self.failures[2]))
    }

    private mutating func end(_ number: JobNumber, _ result: OutboxResult) {
        guard let attempt = attempts.removeValue(forKey: number) else { return }
        perform(ledger.ended(number, result))
        dispatch()
        guard attempt.hasPeerAppeared, !attempt.isBrokenOff, !isFaulty, !ledger.isStopping,
            case .waiting = ledger.jobs[number]?.state,
            [.peerNotFound, .unreachable].contains(disk[number]?.standing.failure?.code)
        else { return }
        faults.append("job \(number) waits although its peer has appeared")
    }

    private mutating func cancel(_ number: JobNumber) {
        let isUnderWay = ledger.isUnderWay(number)
        let now = now
        guard case .record = change(number, { $1.cancel(at: now.wall) }) else { return }
        cancelled.insert(number)
        perform(ledger.cancelled(number))
        if isUnderWay != (attempts[number]?.isNotified == true) { faults.append("the peer is not notified") }
    }

    // MARK: Actions

    private mutating func change(
        _ number: JobNumber, _ body: (OutboxJob, inout JobStatus) -> Bool
    ) -> OutboxLedger.DiskResult {
        guard var record = disk[number] else { return .missing }
        if isFaulty { return .failed }
        guard body(record.job, &record.standing) else { return .unfit }
        disk[number] = record
        return .record(record)
    }

    private mutating func dispatch() {
        for _ in 0..<100 {
            let moves = attempts.compactMapValues(\.moved)
            let actions = ledger.dispatch(at: now, moves: moves)
            if actions.isEmpty { return }
            perform(actions)
        }
        faults.append("dispatch has no end")
    }

    private mutating func perform(_ actions: [Action]) {
        var actions = actions[...]
        while let action = actions.popFirst() { actions += carryOut(action) }
    }

    private mutating func carryOut(_ action: Action) -> [Action] {
        let now = now
        switch action {
        case .sweep: break
        case .look: return isFaulty ? [] : ledger.looked(disk.keys.sorted())
        case .read(let number):
            if isFaulty { unreadable.insert(number) }
            let record = disk[number].map { isFaulty ? .failed : .record($0) } ?? OutboxLedger.DiskResult.missing
            return ledger.read(number, record, at: now)
        case .begin(let number):
            var wasOffered = false
            let result = change(number) { _, standing in
                guard !standing.state.isFinal else { return false }
                wasOffered = standing.wasOffered
                standing.begin()
                return true
            }
            return ledger.began(number, result, wasOffered: wasOffered, at: now)
        case .attempt(let record, let wasOffered, _): begin(record, wasOffered)
        case .breakOff(let number, let isStalled):
            if attempts[number]?.isBrokenOff != false, !ledger.isStopping { faults.append("nothing is broken off") }
            if isStalled, !ledger.jobs.values.contains(where: { if case .ready = $0.state { true } else { false } }) {
                faults.append("an attempt leaves its place to none")
            }
            attempts[number]?.isBrokenOff = true
        case .notifyPeer(let number):
            attempts[number]?.isNotified = true
            farewells.append(number)
        case .conclude(let number, let outcomes, let failure, let isInterrupted):
            let result = change(number) { job, standing in
                standing.conclude(job, outcomes, failure, isInterrupted: isInterrupted, at: now)
                return true
            }
            return ledger.recorded(number, result, at: now)
        case .expire(let number):
            let result = change(number) { _, standing in
                guard !standing.state.isFinal else { return false }
                standing.expire(standing.failure, at: now.wall)
                return true
            }
            return ledger.expired(number, result, at: now)
        case .dropCopies(let number):
            guard let state = disk[number]?.standing.state, !state.isFinal || state == .failed else { break }
            faults.append("the copies of job \(number) are dropped, which may be sent again")
        case .report(let record):
            if disk[record.number]?.standing.isReported == true { faults.append("an end is reported again") }
            if reports.updateValue(record, forKey: record.number) != nil { faults.append("two reports of one job") }
            hasReported.insert(record.number)
        case .watch: isWatching = true
        case .stopWatching: isWatching = false
        case .setAlarm(let rest): alarm = uptime + rest
        }
        return []
    }

    private mutating func begin(_ record: Record, _ wasOffered: Bool) {
        let number = record.number
        if attempts[number] != nil { faults.append("job \(number) is tried twice at once") }
        if cancelled.contains(number) { faults.append("job \(number) is tried after it was cancelled") }
        if ledger.isStopping { faults.append("an attempt begins after the stop") }
        if disk[number]?.standing.state != .sending { faults.append("an attempt is not on the disk") }
        let others = attempts.values.filter { $0.record.number != number }
        let peer = OutboxLedger.Job(state: .ready, record: record).peer
        if others.contains(where: { $0.peer == peer }) { faults.append("two attempts to one peer") }
        if placesTaken(by: others, besides: number) >= Self.places * OutboxLimits.attemptsPerPlace {
            faults.append("too many attempts")
        }
        let taking = others.filter { other in
            guard let begun = ledger.jobs[other.record.number]?.state.attempt?.begun else { return true }
            return other.moved != nil || begun + OutboxLimits.opening > uptime
        }
        if placesTaken(by: taking, besides: number) >= Self.places { faults.append("more attempts than places") }
        attempts[number] = Attempt(record: record, wasOffered: wasOffered, peer: peer)
    }

    /// How many places they take besides that of another one.
    private func placesTaken(by attempts: [Attempt], besides number: JobNumber) -> Int {
        let place = { (number: JobNumber) in ledger.jobs[number]?.state.attempt?.party?.first ?? number }
        return Set(attempts.map { place($0.record.number) }).subtracting([place(number)]).count
    }

    // MARK: Promises

    func brokenPromises() -> [String] {
        var broken = faults
        for number in cancelled {
            if let state = disk[number]?.standing.state, state != .cancelled, state != .done {
                broken.append("the cancellation of job \(number) is lost")
            }
        }
        if ledger.isStopping { return broken }
        for (number, job) in ledger.jobs {
            switch job.state {
            case .waiting(let end), .paused(let end):
                if alarm.map({ $0 > end }) ?? true { broken.append("job \(number) is not woken") }
            case .ready, .trying, .cancelling, .final: break
            }
        }
        let isOpen = ledger.jobs.values.contains { !$0.state.isFinal }
        if isOpen != isWatching { broken.append(isOpen ? "no peer is looked for" : "peers are looked for in vain") }
        if alarm.map({ $0 <= uptime }) ?? true { broken.append("no alarm is set") }
        return broken + keptPlaces()
    }

    /// The places that stalled attempts keep although other jobs need them.
    private func keptPlaces() -> [String] {
        let busy = Set(ledger.jobs.values.filter { $0.state.attempt != nil }.map(\.peer))
        let waiting = ledger.jobs.values.count { job in
            if case .ready = job.state { !busy.contains(job.peer) } else { false }
        }
        let stays = attempts.filter { !$0.value.isBrokenOff && !$0.value.isNotified }
        let begun = { (number: JobNumber) in ledger.jobs[number]?.state.attempt?.begun ?? uptime }
        let isOpening = attempts.contains {
            $0.value.moved == nil && begun($0.key) + OutboxLimits.opening > uptime
        }
        let stalled = stays.filter { ($0.value.moved ?? begun($0.key)) + OutboxLimits.stall <= uptime }
        guard !isOpening, attempts.count - stays.count < waiting else { return [] }
        return stalled.keys.map { "job \($0) keeps its place" }
    }

    func brokenAtRest() -> [String] {
        var broken: [String] = []
        if !ledger.isIdle { broken.append("it is not idle") }
        for (number, record) in disk {
            let state = record.standing.state
            if ledger.isStopping {
                if state == .sending, attempts[number] != nil { broken.append("job \(number) is sent after the stop") }
                continue
            }
            if !state.isFinal { broken.append("job \(number) waits for ever") }
            if state.isFinal, !record.standing.isReported, !hasReported.union(unreadable).contains(number) {
                broken.append("the end of job \(number) is not reported")
            }
        }
        return broken
    }
}

extension OutboxStore.Record {
    fileprivate var transfer: TransferID { TransferID(standing.transfer) ?? TransferID() }
}
