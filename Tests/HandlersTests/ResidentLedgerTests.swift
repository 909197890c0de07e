import HandlerCatalog
import Programs
import Sharing
import Testing

@testable import Handlers

/// The ledger alone: no tasks, no clock, no process.
@Suite("The ledger of a resident handler")
struct ResidentLedgerTests {
    typealias Action = ResidentLedger.Action

    enum Stage: CaseIterable {
        case resting, launching, starting, asked, concluding, running, preparing, leaving
    }

    private static let yes = Array(#"{"answer":"yes","number":7}"#.utf8)
    private let now = ContinuousClock.now
    private let settings: [String: HandlerSettingValue] = ["size": .integer(1)]

    /// A ledger that has come to a stage on the straight way, with call 1 or, while it is prepared, call 2.
    private func ledger(_ stage: Stage) -> ResidentLedger {
        let rules = ResidentLedger.Rules(timeLimit: .seconds(60), idleTime: .seconds(300), isKept: false)
        var ledger = ResidentLedger(rules, settings: [:], pacing: RestartPacing())
        let steps: [Stage: (inout ResidentLedger) -> [Action]] = [
            .launching: { $0.call(1, about: ArrivalNumber(7), at: now) },
            .starting: { $0.launched(nil, at: now) },
            .asked: { $0.began(at: now) },
            .concluding: { $0.heard(Self.yes, from: 1, hasRead: true, at: now) },
            .running: { $0.concluded(1, at: now) },
            .preparing: { $0.call(2, about: ArrivalNumber(8), at: now) },
            .leaving: { $0.cancel(2, at: now) },
        ]
        for step in Stage.allCases {
            _ = steps[step]?(&ledger)
            if step == stage { break }
        }
        return ledger
    }

    @Test("a call launches, starts and asks; the next one asks at once; an idle process is let go")
    func straightWay() {
        var ledger = ledger(.resting)
        let arrival = ArrivalNumber(7)
        #expect(ledger.call(1, about: arrival, at: now) == [.launch(call: 1)])
        #expect(ledger.launched(nil, at: now) == [.start(process: 1, [:])])
        #expect(ledger.began(at: now) == [.ask(call: 1, process: 1, [:], isMoving: false)])
        #expect(ledger.alarm == now + .seconds(60))
        guard
            case .conclude(1, .answered(let answer), 1)? =
                ledger.heard(Self.yes, from: 1, hasRead: true, at: now).first
        else {
            Issue.record("it is no answer")
            return
        }
        #expect(answer.answer == .yes)
        #expect(ledger.call(2, about: nil, at: now) == [])
        #expect(ledger.concluded(1, at: now) == [.catchUp(process: 1)])
        #expect(ledger.caughtUp(1, at: now) == [.ask(call: 2, process: 1, [:], isMoving: false)])
        _ = ledger.heard(Array(#"{"answer":"no"}"#.utf8), from: 1, hasRead: true, at: now)
        #expect(ledger.concluded(1, at: now) == [])
        #expect(ledger.alarm == now + .seconds(300))
        #expect(ledger.timePassed(at: now + .seconds(299)) == [])
        #expect(ledger.timePassed(at: now + .seconds(300)) == [.retire(process: 1)])
    }

    @Test(
        "a stop ends each stage by its own way",
        arguments: [
            (Stage.resting, [Action.release(waiter: 9)]), (.launching, [.cutLaunch]), (.starting, []),
            (.asked, [.end(process: 1)]), (.concluding, []), (.running, [.retire(process: 1)]),
            (.preparing, [.end(process: 1)]), (.leaving, []),
        ])
    func stop(stage: Stage, actions: [Action]) {
        var ledger = ledger(stage)
        #expect(ledger.stop(waiter: 9, at: now) == actions)
        #expect(ledger.call(3, about: nil, at: now) == [.cancel(call: 3)])
    }

    @Test(
        "a call that is cancelled returns when the process that had its question is ended",
        arguments: [
            (Stage.launching, [Action.cutLaunch]), (.starting, []), (.asked, [.end(process: 1)]),
            (.preparing, [.end(process: 1)]), (.running, []),
        ])
    func cancel(stage: Stage, actions: [Action]) {
        var ledger = ledger(stage)
        let call = stage == .preparing ? 2 : 1
        #expect(ledger.call(3, about: nil, at: now).filter { $0 != .catchUp(process: 1) } == [])
        #expect(ledger.cancel(call, at: now) == actions)
        if stage != .running { #expect(ledger.cancel(3, at: now) == [.cancel(call: 3)]) }
        if actions == [.end(process: 1)] { #expect(ledger.departed(1, at: now).first == .cancel(call: call)) }
    }

    @Test(
        "new settings and the lock are told to a process that runs; during a question the settings wait for the answer",
        arguments: Stage.allCases)
    func notices(stage: Stage) {
        let lock = LaunchRules.Notice.willBecomeUnavailable
        let (settingsTold, lockTold) = (
            Action.tell(.settings(settings), process: 1), Action.tell(.lock(lock), process: 1)
        )
        var ledger = ledger(stage)
        let told = ledger.use(settings) + ledger.tell(lock, hasRead: true)
        switch stage {
        case .resting, .launching, .leaving: #expect(told == [])
        case .starting:
            #expect(told == [])
            #expect(Array(ledger.began(at: now).prefix(2)) == [settingsTold, lockTold])
        case .asked:
            #expect(told == [lockTold])
            #expect(ledger.heard(Self.yes, from: 1, hasRead: false, at: now).dropFirst() == [settingsTold])
        case .concluding, .running, .preparing: #expect(told == [settingsTold, lockTold])
        }
    }

    @Test("the lock is told after a question that was not read yet")
    func unreadQuestion() {
        var ledger = ledger(.asked)
        #expect(ledger.tell(.willBecomeUnavailable, hasRead: false) == [])
        #expect(
            ledger.heard(Self.yes, from: 1, hasRead: true, at: now).last
                == .tell(.lock(.willBecomeUnavailable), process: 1))
    }

    @Test("after the notice that an item leaves, an answer without its number ends the input of the process")
    func moving() {
        for (line, isLast) in [(Self.yes, false), (Array(#"{"answer":"yes"}"#.utf8), true)] {
            var ledger = ledger(.asked)
            let arrival = ArrivalNumber(7)
            #expect(ledger.itemWillMove(arrival, hasRead: true) == [.tell(.move(arrival), process: 1)])
            let actions = ledger.heard(line, from: 1, hasRead: true, at: now)
            #expect((actions.last == .retire(process: 1)) == isLast)
            if !isLast { #expect(ledger.heard(line, from: 1, hasRead: true, at: now) == []) }
        }
    }

    @Test("a process that exits during a question is not started again before its pause is over")
    func exits() {
        var ledger = ledger(.asked)
        _ = ledger.exited(1, .code(3), at: now)
        #expect(ledger.notBefore(at: now) == now + .seconds(1))
        guard case .refuse(2, let outcome)? = ledger.call(2, about: nil, at: now).first else {
            Issue.record("it is not refused")
            return
        }
        #expect(outcome.answer == .later)
        #expect(ledger.concluded(1, at: now) == [.finish(process: 1)])
        #expect(ledger.call(3, about: nil, at: now + .seconds(1)) == [.launch(call: 3)])
    }
}
