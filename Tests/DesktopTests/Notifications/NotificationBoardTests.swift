import TestSupport
import Testing

@testable import Desktop

@Suite("The choice of notifications for the desktop")
struct NotificationBoardTests {
    private let start = ContinuousClock.now

    private func board(
        limit: Int = 2, burst: Int = 100, pace: Duration = .seconds(2), hasServer: Bool = true
    ) -> NotificationBoard {
        var board = NotificationBoard(limit: limit, burst: burst, pace: pace, surplus: NotificationRequest.rest)
        if hasServer { board.serverCame(ServerAbilities(hasActions: true, hasMarkup: true)) }
        return board
    }

    private func calls(_ commands: [NotificationBoard.Command]) -> [NotifyCall] {
        commands.compactMap { if case .notify(let call) = $0 { call } else { nil } }
    }

    private func shown(_ commands: [NotificationBoard.Command]) -> [String] { calls(commands).map(\.summary) }

    @Test("without a server no notification is sent; when a server comes, all wanted ones are sent")
    func later() {
        var board = board(hasServer: false)
        board.show(1, .sample("one"))
        #expect(board.advance(now: start).isEmpty)
        #expect(board.deadline == nil)
        board.serverCame(ServerAbilities(hasActions: true, hasMarkup: false))
        #expect(shown(board.advance(now: start)) == ["one"])
        #expect(board.advance(now: start).isEmpty)
    }

    @Test("the oldest notifications have the places, and a free place goes to the next")
    func places() {
        var board = board()
        for number in 1...4 { board.show(number, .sample("\(number)")) }
        let first = calls(board.advance(now: start))
        #expect(first.map(\.summary) == ["1", "2", "and 2 more"])
        for call in first { #expect(board.answered(call.number, id: UInt32(call.number)).isEmpty) }
        #expect(board.close(1) == [.close(1), .tell(1, .closed(.closed))])
        #expect(shown(board.advance(now: start)) == ["3"])
        // The notification about the rest keeps its pace too.
        let next = board.deadline
        #expect(next == start + .seconds(2))
        let update = calls(board.advance(now: start + .seconds(2)))
        #expect(update.map(\.summary) == ["and 1 more"])
        #expect(update.map(\.replaces) == [3])
        _ = board.answered(update[0].number, id: 3)
        #expect(board.close(4) == [.tell(4, .closed(.closed))])
        #expect(board.advance(now: start + .seconds(2)) == [.close(3)])
    }

    @Test("after a burst, new notifications come at their pace")
    func pace() {
        var board = board(limit: 100, burst: 3)
        for number in 1...5 { board.show(number, .sample("\(number)")) }
        #expect(shown(board.advance(now: start)) == ["1", "2", "3", "and 2 more"])
        #expect(board.deadline == start + .seconds(2))
        #expect(shown(board.advance(now: start + .seconds(1))).isEmpty)
        #expect(shown(board.advance(now: start + .seconds(2))) == ["4"])
        #expect(shown(board.advance(now: start + .seconds(4))) == ["5"])
        board.show(6, .sample("6"))
        #expect(shown(board.advance(now: start + .seconds(3_600))) == ["6"])
    }

    @Test("a notification that is closed early is removed once the server has told its id")
    func closedEarly() {
        var board = board()
        board.show(1, .sample("one"))
        let call = calls(board.advance(now: start))
        #expect(board.close(1) == [.tell(1, .closed(.closed))])
        #expect(board.close(1).isEmpty)
        #expect(!board.isClear)
        #expect(board.answered(call[0].number, id: 9) == [.close(9)])
        #expect(board.isClear)
    }

    @Test("of changes that come faster than the answers only the last is sent")
    func updates() {
        var board = board()
        board.show(1, .sample("a"))
        let first = calls(board.advance(now: start))
        for text in ["b", "c", "d"] {
            board.update(1, .sample(text))
            #expect(board.advance(now: start).isEmpty)
        }
        _ = board.answered(first[0].number, id: 5)
        let second = calls(board.advance(now: start))
        #expect(second.map(\.summary) == ["d"])
        #expect(second.map(\.replaces) == [5])
        // Meanwhile the old one can be pressed.
        #expect(board.invoked(5, "accept-1") == [.tell(1, .action("accept"))])
    }

    @Test("an action counts only for the notification of its key")
    func keys() {
        var board = board()
        board.show(12, .sample("one"))
        let call = calls(board.advance(now: start))
        #expect(call[0].actions == ["accept-12", "Accept", "decline-12", "Decline"])
        #expect(board.invoked(5, "accept-12").isEmpty)
        _ = board.answered(call[0].number, id: 5)
        for key in ["accept", "accept-1", "accept-11", "other-12", "", "default"] {
            #expect(board.invoked(5, key).isEmpty)
        }
        #expect(board.invoked(5, "decline-12") == [.tell(12, .action("decline"))])
        #expect(board.invoked(6, "decline-12").isEmpty)
    }

    @Test(
        "the reason for the end is reported, an unknown one too",
        arguments: [(1, NotificationEnd.expired), (2, .dismissed), (3, .closed), (4, .undefined), (.max, .undefined)]
            as [(UInt32, NotificationEnd)])
    func ends(reason: UInt32, end: NotificationEnd) {
        var board = board()
        board.show(1, .sample("one"))
        let call = calls(board.advance(now: start))
        _ = board.answered(call[0].number, id: 5)
        #expect(board.closed(5, reason: reason) == [.tell(1, .closed(end))])
        #expect(board.closed(5, reason: reason).isEmpty)
        #expect(board.advance(now: start).isEmpty)
    }

    @Test("a dismissed notification about the rest stays away until there is no rest")
    func dismissedSurplus() {
        var board = board(limit: 1, pace: .zero)
        for number in 1...3 { board.show(number, .sample("\(number)")) }
        let first = calls(board.advance(now: start))
        for call in first { _ = board.answered(call.number, id: UInt32(call.number)) }
        #expect(board.closed(2, reason: 2).isEmpty)
        board.show(4, .sample("4"))
        #expect(board.advance(now: start).isEmpty)
        for number in 2...4 { _ = board.close(number) }
        #expect(board.advance(now: start).isEmpty)
        board.show(5, .sample("5"))
        #expect(shown(board.advance(now: start)) == ["and 1 more"])
    }

    @Test("one that expires while it is changed is shown with its change; one that is dismissed stays away")
    func expiredUpdate() {
        for (reason, isShown) in [(1, true), (2, false)] as [(UInt32, Bool)] {
            var board = board()
            board.show(1, .sample("a"))
            _ = board.answered(calls(board.advance(now: start))[0].number, id: 5)
            board.update(1, .sample("b"))
            let call = calls(board.advance(now: start))
            #expect(board.closed(5, reason: reason) == (isShown ? [] : [.tell(1, .closed(.dismissed))]))
            #expect(board.answered(call[0].number, id: 6) == (isShown ? [] : [.close(6)]))
            #expect(board.isClear != isShown)
            #expect(board.invoked(6, "accept-1") == (isShown ? [.tell(1, .action("accept"))] : []))
        }
    }

    @Test("the notification about the rest that expires while it is changed is shown with its change")
    func expiredSurplusUpdate() {
        var board = board(limit: 1, pace: .zero)
        for number in 1...2 { board.show(number, .sample("\(number)")) }
        for call in calls(board.advance(now: start)) { _ = board.answered(call.number, id: UInt32(call.number)) }
        board.show(3, .sample("3"))
        let update = calls(board.advance(now: start))
        #expect(update.map(\.summary) == ["and 2 more"])
        #expect(board.closed(2, reason: 1).isEmpty)
        #expect(board.answered(update[0].number, id: 7).isEmpty)
        board.show(4, .sample("4"))
        #expect(calls(board.advance(now: start)).map(\.replaces) == [7])
    }

    @Test("a change that the server refuses removes the old notification")
    func refusedUpdate() {
        var board = board()
        board.show(1, .sample("a"))
        _ = board.answered(calls(board.advance(now: start))[0].number, id: 5)
        board.update(1, .sample("b"))
        let call = calls(board.advance(now: start))
        #expect(board.answered(call[0].number, id: nil) == [.close(5), .tell(1, .closed(.refused))])
        #expect(board.isClear)
    }

    @Test("answers to unknown calls, and answers of servers that have left, are ignored")
    func strayAnswers() {
        var board = board()
        #expect(board.answered(77, id: 1).isEmpty)
        board.show(1, .sample("one"))
        let call = calls(board.advance(now: start))
        board.serverLeft()
        #expect(board.answered(call[0].number, id: 1).isEmpty)
        #expect(board.closed(1, reason: 2).isEmpty)
        board.serverCame(ServerAbilities(hasActions: true, hasMarkup: true))
        #expect(shown(board.advance(now: start)) == ["one"])
    }

    @Test("with any order of a server's answers, the limit holds and each notification ends")
    func anyOrder() {
        for seed in 0..<300 as Range<UInt64> {
            var numbers = SeededNumbers(seed: seed)
            var board = board(limit: 3, burst: 1_000, pace: .zero)
            var open: [Int] = []
            var ended: Set<Int> = []
            var last = 0
            var pending: [NotifyCall] = []
            func take(_ commands: [NotificationBoard.Command]) {
                pending += calls(commands)
                for case .tell(let number, .closed) in commands {
                    #expect(ended.insert(number).inserted, "told twice, seed \(seed)")
                }
            }
            for _ in 0..<200 {
                switch Int.random(in: 0..<8, using: &numbers) {
                case 0, 1:
                    last += 1
                    open.append(last)
                    board.show(last, .sample("\(last)"))
                case 2:
                    if let number = open.randomElement(using: &numbers) { take(board.close(number)) }
                case 3:
                    if let number = open.randomElement(using: &numbers) { board.update(number, .sample("x\(last)")) }
                case 4, 5:
                    guard let index = pending.indices.randomElement(using: &numbers) else { break }
                    let id = Bool.random(using: &numbers) ? UInt32.random(in: 0...6, using: &numbers) : nil
                    take(board.answered(pending.remove(at: index).number, id: id))
                case 6:
                    let reason = UInt32.random(in: 1...2, using: &numbers)
                    take(board.closed(UInt32.random(in: 0...6, using: &numbers), reason: reason))
                default:
                    guard Int.random(in: 0..<10, using: &numbers) == 0 else { break }
                    board.serverLeft()
                    pending = []
                    board.serverCame(ServerAbilities(hasActions: true, hasMarkup: false))
                }
                take(board.advance(now: start))
                #expect(pending.count <= 4, "seed \(seed)")
            }
            take(board.closeAll())
            for call in pending { take(board.answered(call.number, id: 1_000 + UInt32(call.number))) }
            #expect(ended == Set(open), "seed \(seed)")
            #expect(board.isClear, "seed \(seed)")
        }
    }
}
