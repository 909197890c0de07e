import Testing

@testable import Streams

@Suite("A loop's mailbox", .timeLimit(.minutes(1)))
struct MailboxTests {
    private enum Event: Sendable {
        case number(Int)
        case double(Int, CheckedContinuation<Int, Never>)
    }

    @Test("gives the events in the order of arrival; after its end it refuses events, and gives those that wait")
    func order() async {
        let mailbox = Mailbox<Int>()
        for number in 1...3 { #expect(mailbox.post(number)) }
        for await number in mailbox {
            #expect(number == 1)
            break
        }
        mailbox.close()
        #expect(!mailbox.post(4))
        var rest: [Int] = []
        for await number in mailbox { rest.append(number) }
        #expect(rest == [2, 3])
    }

    @Test("a request gets the loop's answer, or that for a closed mailbox")
    func ask() async {
        let mailbox = Mailbox<Event>()
        let loop = Task {
            for await case .double(let number, let answer) in mailbox { answer.resume(returning: 2 * number) }
        }
        mailbox.post(.number(1))
        let answer = await mailbox.ask(ifClosed: 0) { .double(21, $0) }
        #expect(answer == 42)
        mailbox.close()
        await loop.value
        let late = await mailbox.ask(ifClosed: 0) { .double(21, $0) }
        #expect(late == 0)
    }

    @Test("events from many tasks all arrive")
    func many() async {
        let mailbox = Mailbox<Int>()
        let sum = Task { await mailbox.reduce(0, +) }
        await withTaskGroup(of: Void.self) { group in
            for number in 1...1_000 { group.addTask { mailbox.post(number) } }
        }
        mailbox.close()
        #expect(await sum.value == 500_500)
    }
}
