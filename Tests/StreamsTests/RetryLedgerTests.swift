import Testing

@testable import Streams

@Suite("Work that is tried again")
struct RetryLedgerTests {
    private var ledger = RetryLedger<Int>()

    @Test("ready work is given in its order, whatever order it came in")
    mutating func order() {
        for number in [5, 1, 9, 3, 7, 3] { ledger.put(number) }
        #expect(Array(ledger.ready) == [1, 3, 5, 7, 9])
        ledger.begin(1)
        ledger.begin(7)
        ledger.put(2)
        #expect(Array(ledger.ready) == [2, 3, 5, 9] && ledger.underWay == [1, 7])
    }

    @Test("work that waits is ready when its time has come, in its place")
    mutating func waits() {
        ledger.put(1, notBefore: .seconds(5))
        ledger.put(2)
        ledger.put(3, notBefore: .seconds(2))
        #expect(ledger.nextDue == .seconds(2))
        var steps: [[Int]] = []
        for second in [1, 2, 5] {
            let woken = ledger.wake(at: .seconds(second))
            #expect(woken == (second == 1 ? [] : [second == 2 ? 3 : 1]))
            steps.append(Array(ledger.ready))
        }
        #expect(steps == [[2], [2, 3], [1, 2, 3]] && ledger.nextDue == nil)
    }

    @Test("work has one state at a time")
    mutating func states() {
        var states = [ledger.state(of: 1)]
        for change in 0..<6 {
            switch change {
            case 0, 3: ledger.put(1, notBefore: .seconds(1))
            case 1, 4: ledger.put(1)
            case 2: ledger.begin(1)
            default: ledger.remove(1)
            }
            states.append(ledger.state(of: 1))
        }
        let waiting = RetryLedger<Int>.State.waiting(until: .seconds(1))
        #expect(states == [nil, waiting, .ready, .underWay, waiting, .ready, nil])
        #expect(ledger.isEmpty && ledger.isIdle)
    }

    @Test("work that has not begun can be forgotten at once")
    mutating func forgetting() {
        for number in 1...3 { ledger.put(number) }
        ledger.begin(2)
        ledger.put(4, notBefore: .seconds(1))
        ledger.removeUnbegun()
        #expect(ledger.ready.isEmpty && ledger.nextDue == nil && !ledger.isIdle && !ledger.isEmpty)
    }

    @Test("many are taken from the front and from the middle without a gap")
    mutating func many() {
        for number in 0..<5_000 { ledger.put(number) }
        for number in 0..<3_000 { ledger.begin(number) }
        ledger.remove(4_000)
        ledger.put(10)
        #expect(ledger.ready.first == 10 && ledger.ready.count == 2_000 && ledger.state(of: 4_000) == nil)
    }

    @Test("a timer is set anew only for another time, and after it has ended")
    func alarm() {
        var alarm = LoopAlarm()
        var moves = [nil, .seconds(2), .seconds(2), .seconds(1)].map { alarm.move(to: $0) }
        alarm.rang()
        moves += [.seconds(1), nil, nil].map { alarm.move(to: $0) }
        #expect(moves == [false, true, false, true, true, true, false])
    }
}
