import Synchronization
import Testing

@testable import Discovery

@Suite("Events for the consumer of a browse", .timeLimit(.minutes(1)))
struct BrowseMailboxTests {
    private func drain(_ stream: AsyncStream<BrowseEvent>, _ count: Int) async -> [BrowseEvent] {
        var events: [BrowseEvent] = []
        for await event in stream {
            events.append(event)
            if events.count == count { break }
        }
        return events
    }

    @Test("of one instance the newest event is delivered, in the place of the oldest")
    func coalescing() async throws {
        let (stream, mailbox) = BrowseMailbox.open { _ in }
        for port in 1...100 {
            mailbox.post(.updated(try Sample.service("a", port: UInt16(port))))
            mailbox.post(.updated(try Sample.service("b", port: UInt16(port))))
        }
        mailbox.post(.allForNow)
        let events = await drain(stream, 3)
        #expect(
            events == [
                .updated(try Sample.service("a", port: 100)), .updated(try Sample.service("b", port: 100)), .allForNow,
            ]
        )
    }

    @Test("an instance that came and went unseen is not mentioned")
    func cameAndWent() async throws {
        let (stream, mailbox) = BrowseMailbox.open { _ in }
        mailbox.post(.updated(try Sample.service("a")))
        mailbox.post(.removed(instance: "a"))
        mailbox.post(.updated(try Sample.service("b")))
        #expect(await drain(stream, 1) == [.updated(try Sample.service("b"))])
    }

    @Test("a reported instance is reported as removed, and as found if it came back meanwhile")
    func seen() async throws {
        let (stream, mailbox) = BrowseMailbox.open { _ in }
        let events = Consumer(of: stream)
        mailbox.post(.updated(try Sample.service("a")))
        mailbox.post(.updated(try Sample.service("b")))
        #expect(await events.next() != nil)
        #expect(await events.next() != nil)
        mailbox.post(.removed(instance: "a"))
        mailbox.post(.removed(instance: "b"))
        mailbox.post(.updated(try Sample.service("a", port: 5000)))
        #expect(await events.next() == .updated(try Sample.service("a", port: 5000)))
        #expect(await events.next() == .removed(instance: "b"))
    }

    @Test("a consumer that waits gets the next event")
    func waiting() async throws {
        let (stream, mailbox) = BrowseMailbox.open { _ in }
        let consumer = Task { await drain(stream, 2) }
        mailbox.post(.allForNow)
        mailbox.post(.failed(DiscoveryError(.browsingFailed, cause: "test")))
        #expect(await consumer.value.count == 2)
    }

    @Test("dropping the stream ends the browse")
    func dropped() async {
        await confirmation { ended in
            let (done, finish) = AsyncStream.makeStream(of: Void.self)
            do {
                let (stream, mailbox) = BrowseMailbox.open { _ in finish.finish() }
                mailbox.post(.allForNow)
                _ = await drain(stream, 1)
            }
            for await _ in done {}
            ended()
        }
    }

    @Test("cancelling the consumer's task ends the stream and the browse")
    func cancelled() async {
        let (done, finish) = AsyncStream.makeStream(of: Void.self)
        let (stream, mailbox) = BrowseMailbox.open { _ in finish.finish() }
        let consumer = Task { await drain(stream, 1) }
        consumer.cancel()
        #expect(await consumer.value.isEmpty)
        for await _ in done {}
        #expect(mailbox.isFinished)
    }
}
