import Digests
import ItemSources
import Sharing
import TestSupport
import Testing

@testable import Outbox

@Suite("How far a job has come")
struct StandingTests {
    private func job(items: Int = 2) -> OutboxJob {
        let item = OutboxItem(TextSource("x").offered, origin: "text", content: .text("x"))
        return OutboxJob(
            number: JobNumber(1), queued: someTime,
            expires: WallTime(milliseconds: someTime.milliseconds + OutboxLimits.lifetime),
            destination: .init(text: "kitchen"), items: Array(repeating: item, count: items))
    }

    private let unreachable = OutboxJobError(.unreachable, "no way", isFinal: false)
    private let declined = OutboxJobError(.declined, "declined", isFinal: true)

    @Test("it waits five seconds, doubling up to ten minutes")
    func backoff() {
        let delays = (1...9).map { OutboxBackoff.delay(after: $0) / 1_000 }
        #expect(delays == [5, 10, 20, 40, 80, 160, 320, 600, 600])
        #expect(OutboxBackoff.delay(after: .max) == 600_000)
    }

    @Test("a job that can be tried again waits; another one has failed, and so has a job whose time is over")
    func ends() {
        let job = job()
        var standing = JobStatus(job)
        standing.begin()
        standing.end(job, unreachable, at: someTime)
        #expect(standing.state == .waiting)
        #expect(standing.due == someTime.milliseconds + 5_000)
        var refused = standing
        refused.end(job, declined, at: someTime)
        #expect(refused.state == .failed)
        #expect(refused.failure == declined)
        standing.end(job, unreachable, at: WallTime(milliseconds: standing.expires))
        #expect(standing.failure?.code == .expired)
    }

    @Test("an offer to a peer with a key binds the job to that key; an offer to a peer without one leaves no id behind")
    func offeredTo() {
        var standing = JobStatus(job())
        #expect(!standing.wasOffered)
        standing.offer(as: TransferID(), nil, to: .sample(1), callingItself: "Kitchen")
        #expect(standing.wasOffered && standing.peer == .sample(1))
        standing.offer(as: TransferID(), nil, to: .unproven(.keyless), callingItself: "Mac")
        #expect(standing.wasOffered && standing.peer == nil && standing.peerName == "Mac")
    }

    @Test("an item that is stored is sent, also if no handler was asked and the job waits for handlers")
    func noHandler() throws {
        let digest = Digest.of(.xxh3_128, Array("x".utf8))
        let receipt = ItemReceipt(.stored(name: "a", size: 1, digest: digest), handler: HandlerAnswer(.none))
        let outcome = try SettledItem.of(receipt, waitsForHandlers: true).get()
        #expect(outcome.failure == nil && outcome.stored == "a")
        let refused = ItemReceipt(.stored(name: "a", size: 1, digest: digest), handler: HandlerAnswer(.no))
        #expect(try SettledItem.of(refused, waitsForHandlers: true).get().failure == nil)
    }

    @Test("it is done when every item is stored, and failed when one is settled otherwise")
    func settled() {
        let job = job()
        var standing = JobStatus(job)
        standing.settle([0: .stored("a")])
        standing.end(job, unreachable, at: someTime)
        #expect(standing.state == .waiting)
        // A stored item stays stored.
        standing.settle([0: SettledItem(declined), 1: .stored("b")])
        standing.end(job, nil, at: someTime)
        #expect(standing.state == .done)
        var other = JobStatus(job)
        other.settle([0: .stored("a"), 1: SettledItem(declined)])
        other.end(job, nil, at: someTime)
        #expect(other.state == .failed)
        #expect(other.failure == declined)
        let isRetried = other.retry(job, at: someTime)
        #expect(isRetried)
        #expect(other.outcomes.keys.sorted() == [0])
    }

    @Test("a job that was cancelled stays so, unless everything had arrived by then")
    func cancelled() {
        let job = job(items: 1)
        var standing = JobStatus(job)
        standing.begin()
        let wasCancelled = standing.cancel(at: someTime)
        #expect(wasCancelled)
        var late = standing
        standing.end(job, unreachable, at: someTime)
        #expect(standing.state == .cancelled)
        late.settle([0: .stored("a")])
        late.end(job, nil, at: someTime)
        #expect(late.state == .done)
        #expect(!late.isReported)
    }
}
