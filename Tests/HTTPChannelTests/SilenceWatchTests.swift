import HTTPChannel
import NIOCore
import NIOEmbedded
import TestSupport
import Testing

@Suite("The watch for silence")
struct SilenceWatchTests {
    @Test(
        "any timeout can be set",
        arguments: [.zero, .seconds(-5), .milliseconds(-5), .nanoseconds(1), .seconds(Int64.max), .seconds(Int64.min)]
            as [Duration])
    func anyTimeout(timeout: Duration) {
        let watch = SilenceWatch()
        watch.expect(within: timeout)
        watch.rest()
        #expect(!watch.expired)
    }

    @Test("a deadline that has passed closes the channel at the next look, a cancelled one does not")
    func deadline() throws {
        let watch = SilenceWatch(interval: .seconds(1))
        let channel = EmbeddedChannel(handler: watch)
        try channel.connect(to: SocketAddress(unixDomainSocketPath: "/nowhere")).wait()
        channel.embeddedEventLoop.advanceTime(by: .seconds(10))
        #expect(channel.isActive)
        watch.expect(within: .zero)
        watch.rest()
        channel.embeddedEventLoop.advanceTime(by: .seconds(10))
        #expect(channel.isActive && !watch.expired)
        watch.expect(within: .seconds(3_600))
        channel.embeddedEventLoop.advanceTime(by: .seconds(10))
        #expect(channel.isActive && !watch.expired)
        watch.expect(within: .zero)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive && watch.expired)
    }
}
