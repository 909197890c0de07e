import ItemSources
import Sharing
import TestSupport
import Testing

@testable import Outbox

/// The ledger alone: no disk, no tasks, no clock.
@Suite("The ledger of the outbox")
struct OutboxLedgerTests {
    typealias Action = OutboxLedger.Action

    private let number = JobNumber(1)
    private let unreachable = OutboxJobError(.unreachable, "no way", isFinal: false)

    private func moment(_ seconds: Int = 0) -> OutboxLedger.Moment {
        let wall = WallTime(milliseconds: someTime.milliseconds + Int64(seconds) * 1_000)
        return OutboxLedger.Moment(uptime: .seconds(seconds), wall: wall, today: wall)
    }

    private func record(
        _ number: Int = 1, to peer: String = "kitchen", group: String? = nil
    ) -> OutboxStore.Record {
        let item = OutboxItem(TextSource("x").offered, origin: "text", content: .text("x"))
        let job = OutboxJob(
            number: JobNumber(number), queued: someTime,
            expires: WallTime(milliseconds: someTime.milliseconds + 1_000_000), destination: .init(text: peer),
            options: .init(group: group), items: [item])
        return OutboxStore.Record(job: job, standing: JobStatus(job))
    }

    private func sending(_ record: OutboxStore.Record) -> OutboxStore.Record {
        var record = record
        record.standing.begin()
        return record
    }

    /// With jobs that are being tried.
    private func ledger(trying records: OutboxStore.Record..., places: Int = 4) -> OutboxLedger {
        var ledger = OutboxLedger(places: places, at: .zero)
        _ = ledger.due(at: moment())
        for record in records {
            _ = ledger.enter(record, at: moment())
            _ = ledger.dispatch(at: moment(), moves: [:])
            _ = ledger.began(record.number, .record(sending(record)), wasOffered: false, at: moment())
        }
        return ledger
    }

    @Test("a job is read, begun, tried, and told about when it is done")
    func straightWay() {
        var ledger = OutboxLedger(places: 4, at: .zero)
        #expect(ledger.due(at: moment()) == [.sweep, .look])
        #expect(ledger.looked([number]) == [.read(number)])
        #expect(ledger.read(number, .record(record()), at: moment()) == [])
        #expect(ledger.dispatch(at: moment(), moves: [:]) == [.begin(number)])
        let begun = sending(record())
        #expect(
            ledger.began(number, .record(begun), wasOffered: false, at: moment())
                == [.attempt(begun, wasOffered: false, nil)])
        #expect(ledger.dispatch(at: moment(), moves: [:]) == [.watch, .setAlarm(.seconds(60))])
        #expect(ledger.summary == .init(waiting: 0, sending: 1, failed: 0))
        let outcomes = [0: SettledItem.stored("a")]
        #expect(
            ledger.ended(number, OutboxResult(outcomes: outcomes))
                == [.conclude(number, outcomes, nil, isInterrupted: false)])
        var done = begun
        done.standing.conclude(done.job, outcomes, nil, isInterrupted: false, at: moment())
        #expect(ledger.recorded(number, .record(done), at: moment()) == [.dropCopies(number), .report(done)])
        #expect(ledger.dispatch(at: moment(), moves: [:]) == [.stopWatching])
        #expect(ledger.reported(number, isSuperseded: false) == [])
        #expect(ledger.isIdle && ledger.summary == .init())
    }

    @Test("jobs of one command begin together and take one place, but for those whose peer is busy")
    func together() {
        var ledger = ledger(trying: record(1, to: "attic"), places: 2)
        for (number, peer) in [(2, "cellar"), (3, "attic"), (4, "garage")] {
            _ = ledger.enter(record(number, to: peer, group: "lab"), at: moment())
        }
        _ = ledger.enter(record(5, to: "study"), at: moment())
        #expect(ledger.dispatch(at: moment(), moves: [:]) == [.begin(JobNumber(2)), .begin(JobNumber(4))])
        for (member, (number, peer)) in [(2, "cellar"), (4, "garage")].enumerated() {
            let begun = sending(record(number, to: peer, group: "lab"))
            let party = OutboxParty(id: 2, first: JobNumber(2), members: 2, member: member)
            #expect(
                ledger.began(begun.number, .record(begun), wasOffered: false, at: moment())
                    == [.attempt(begun, wasOffered: false, party)])
        }
        // Two places are taken: the job 5 waits for one.
        #expect(ledger.dispatch(at: moment(), moves: [:]) == [.watch, .setAlarm(OutboxLimits.opening)])
        _ = ledger.ended(JobNumber(1), OutboxResult(outcomes: [0: .stored("a")]))
        var done = sending(record(1, to: "attic"))
        done.standing.conclude(done.job, [0: .stored("a")], nil, isInterrupted: false, at: moment())
        _ = ledger.recorded(number, .record(done), at: moment())
        #expect(ledger.dispatch(at: moment(), moves: [:]) == [.begin(JobNumber(3))])
    }

    @Test("a job that is tried again begins another party than the one that is under way")
    func otherParty() {
        var ledger = OutboxLedger(places: 4, at: .zero)
        var parties: [OutboxParty?] = []
        for number in [1, 2, 3] { _ = ledger.enter(record(number, to: "\(number)", group: "lab"), at: moment()) }
        func begin() {
            for case .begin(let number) in ledger.dispatch(at: moment(), moves: [:]) {
                let begun = sending(record(number.value, to: "\(number)", group: "lab"))
                let actions = ledger.began(number, .record(begun), wasOffered: false, at: moment())
                if case .attempt(_, _, let party) = actions.first { parties.append(party) }
            }
        }
        begin()
        for number in [1, 3] {
            _ = ledger.ended(JobNumber(number), OutboxResult(failure: unreachable))
            _ = ledger.recorded(JobNumber(number), .record(record(number, to: "\(number)", group: "lab")), at: moment())
        }
        begin()
        #expect(parties.map { $0?.members } == [3, 3, 3, 2, 2] && parties.map { $0?.member } == [0, 1, 2, 0, 1])
        let ids = parties.compactMap { $0?.id }
        #expect(ids.count == 5 && Set(ids.prefix(3)).isDisjoint(with: ids.suffix(2)))
    }

    @Test("a failed job is tried again after its wait, and at once when its peer appears")
    func waiting() {
        for hasAppeared in [false, true] {
            var ledger = ledger(trying: record())
            var waiting = sending(record())
            waiting.standing.conclude(waiting.job, [:], unreachable, isInterrupted: false, at: moment())
            _ = ledger.ended(number, OutboxResult(failure: unreachable))
            #expect(ledger.recorded(number, .record(waiting), at: moment()) == [])
            #expect(ledger.dispatch(at: moment(), moves: [:]) == [.watch, .setAlarm(.seconds(5))])
            if hasAppeared { ledger.appeared(OutboxAppearance(id: .sample(1), name: "kitchen")) }
            let time = moment(hasAppeared ? 0 : 5)
            #expect(ledger.dispatch(at: time, moves: [:]) == [.begin(number)])
        }
    }

    @Test(
        "a change that the disk refuses is tried again later; a job that another process ended or removed is left alone"
    )
    func disk() {
        let results: [(OutboxLedger.DiskResult, OutboxEngine.Summary, [Action])] = [
            (.failed, .init(waiting: 1), [.watch, .setAlarm(.seconds(10))]),
            (.unfit, .init(), [.setAlarm(.seconds(60))]), (.missing, .init(), [.setAlarm(.seconds(60))]),
        ]
        for (result, summary, actions) in results {
            for isExpired in [false, true] {
                var ledger = OutboxLedger(places: 4, at: .zero)
                _ = ledger.due(at: moment())
                var record = record()
                if isExpired { record.standing.expires = someTime.milliseconds }
                _ = ledger.enter(record, at: moment())
                if isExpired {
                    #expect(ledger.dispatch(at: moment(), moves: [:]) == [.expire(number)])
                    #expect(ledger.expired(number, result, at: moment()) == [])
                } else {
                    #expect(ledger.dispatch(at: moment(), moves: [:]) == [.begin(number)])
                    #expect(ledger.began(number, result, wasOffered: false, at: moment()) == [])
                }
                #expect(ledger.summary == summary)
                #expect(ledger.dispatch(at: moment(), moves: [:]) == actions)
            }
        }
    }

    @Test("a cancelled attempt notifies its peer, is broken off after that, and keeps its place until it has ended")
    func cancelling() {
        var ledger = ledger(trying: record(), places: 1)
        _ = ledger.enter(record(2), at: moment())
        #expect(ledger.cancelled(number) == [.notifyPeer(number)])
        #expect(ledger.farewellIsOver(number) == [.breakOff(number)])
        #expect(ledger.dispatch(at: moment(), moves: [:]) == [.watch, .setAlarm(.seconds(60))])
        _ = ledger.ended(number, OutboxResult(failure: unreachable))
        var cancelled = sending(record())
        _ = cancelled.standing.cancel(at: moment().wall)
        #expect(ledger.recorded(number, .record(cancelled), at: moment()) == [.dropCopies(number)])
        #expect(ledger.farewellIsOver(number) == [])
        #expect(ledger.dispatch(at: moment(), moves: [:]) == [.begin(JobNumber(2))])
    }

    @Test("the longest stalled attempt leaves its place to a waiting job, and says so in its failure")
    func stalled() {
        var ledger = ledger(trying: record(1, to: "a"), record(2, to: "b"), places: 2)
        _ = ledger.enter(record(3, to: "c"), at: moment())
        let moves = [JobNumber(1): Duration.seconds(20), JobNumber(2): .seconds(10)]
        let actions = ledger.dispatch(at: moment(309), moves: moves)
        #expect(actions.contains(.setAlarm(.zero)), "the look")
        _ = ledger.due(at: moment(309))
        #expect(ledger.dispatch(at: moment(309), moves: moves) == [.setAlarm(.seconds(1))])
        #expect(ledger.dispatch(at: moment(310), moves: moves) == [.breakOff(JobNumber(2), isStalled: true)])
        guard
            case .conclude(_, _, let failure?, false)? =
                ledger.ended(JobNumber(2), OutboxResult(failure: unreachable)).first
        else {
            Issue.record("it is not concluded")
            return
        }
        #expect(failure.code == .noAnswer)
    }

    @Test("a stop breaks off all attempts, which do not count, and begins none")
    func stop() {
        var ledger = ledger(trying: record(1, to: "a"), record(2, to: "b"))
        _ = ledger.enter(record(3, to: "c"), at: moment())
        #expect(ledger.stop() == [.breakOff(JobNumber(1)), .breakOff(JobNumber(2))])
        #expect(ledger.dispatch(at: moment(), moves: [:]) == [])
        #expect(
            ledger.ended(number, OutboxResult(failure: unreachable))
                == [.conclude(number, [:], unreachable, isInterrupted: true)])
    }
}
