import Foundation
import NIOCore
import Sharing
import Testing

@testable import SecureTransport

/// Connections whose way to the peer is lent to a thread.
@Suite("A way to the peer that is lent", .timeLimit(.minutes(1)))
struct OutboundLoanTests {
    /// A server that sends and reads on command, and then reports the received bytes.
    private final class Reader: Sendable {
        let maySpeak = Signal<[UInt8]>()
        let mayRead = Signal<Void>()
        let received = Signal<[UInt8]>()
        let end = Signal<TLSError.Code?>()

        @Sendable func serve(_ connection: SecureConnection<Bytes>) async {
            var bytes: [UInt8] = []
            do {
                try await connection.output.executeThenClose { inbound, outbound in
                    async let spoken: Void = outbound.write(ByteBuffer(bytes: maySpeak.wait()))
                    await mayRead.wait()
                    await maySpeak.fire([])
                    // The connection may have ended by then.
                    try? await spoken
                    for try await buffer in inbound { bytes += buffer.readableBytesView }
                }
                await end.fire(nil)
            } catch {
                await end.fire((error as? TLSError)?.code ?? .setUpFailed)
            }
            await received.fire(bytes)
        }
    }

    /// Runs what blocks on a thread of its own.
    private func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: body()) }
        }
    }

    private func borrow(_ channel: any Channel, _ seats: WaitingSeats = WaitingSeats(4)) async throws -> OutboundLoan? {
        try await channel.eventLoop.submit { try channel.tlsHandler().lendOutbound(seats) }.get()
    }

    /// Sends pieces until one is not sent at once.
    /// - Returns: how many were taken, and how the last one went.
    private func fill(_ loan: OutboundLoan, _ piece: [UInt8]) async -> (taken: Int, last: OutboundLoan.Outcome) {
        await onThread {
            let buffer = ByteBuffer(bytes: piece)
            for taken in 0..<10_000 {
                switch loan.send([buffer]) {
                case .sent: continue
                case .left: return (taken + 1, .left)
                case .over: return (taken, .over)
                }
            }
            return (10_000, .sent)
        }
    }

    private func repeated(_ piece: [UInt8], _ count: Int) -> [UInt8] { (0..<count).flatMap { _ in piece } }

    @Test("data sent on the loan arrives in order, between the channel's data before and afterwards")
    func order() async throws {
        let reader = Reader()
        await reader.mayRead.fire(())
        let parts = [1, 7, 16_384, 300_001, 2, 491_511, 20_000].enumerated().map { noise($1, seed: UInt64($0)) }
        try await withListener(onConnection: reader.serve) { listener in
            let connection = try await dialer().dial(port: listener.port)
            try await connection.output.executeThenClose { _, outbound in
                for _ in 0..<3 {
                    try await outbound.write(ByteBuffer(bytes: noise(5_000, seed: 99)))
                    let loan = try #require(try await borrow(connection.channel))
                    let sent = await onThread { loan.send(parts.map { ByteBuffer(bytes: $0) }) }
                    #expect(sent == .sent)
                    try await connection.channel.returnOutbound().get()
                    #expect(loan.send([ByteBuffer(bytes: [1])]) == .over)
                }
                // Without giving it back.
                let loan = try #require(try await borrow(connection.channel))
                #expect(loan.send([ByteBuffer(bytes: [42])]) == .sent)
                try await outbound.write(ByteBuffer(bytes: [43]))
            }
            let round = noise(5_000, seed: 99) + parts.flatMap { $0 }
            #expect(await reader.received.wait() == round + round + round + [42, 43])
            #expect(await reader.end.wait() == nil)
        }
    }

    @Test("a peer that stops reading stops the borrower, and its data is still read")
    func spokenTo() async throws {
        let reader = Reader()
        let seats = WaitingSeats(4)
        let piece = noise(100_000)
        try await withListener(onConnection: reader.serve) { listener in
            let connection = try await dialer().dial(port: listener.port)
            try await connection.output.executeThenClose { inbound, outbound in
                let loan = try #require(try await borrow(connection.channel, seats))
                async let filled = fill(loan, piece)
                while seats.taken == 0 { try await Task.sleep(for: .milliseconds(1)) }
                await reader.maySpeak.fire([1, 2, 3])
                var said: [UInt8] = []
                for try await buffer in inbound {
                    said += buffer.readableBytesView
                    if said.count == 3 { break }
                }
                #expect(said == [1, 2, 3])
                let (taken, last) = await filled
                #expect(last != .sent)
                await reader.mayRead.fire(())
                try await connection.channel.returnOutbound().get()
                try await outbound.write(ByteBuffer(bytes: [9]))
                connection.channel.close(promise: nil)
                #expect(await reader.received.wait() == repeated(piece, taken) + [9])
            }
        }
    }

    @Test("closing the connection ends the wait of a borrower, and everything that was taken still arrives")
    func closed() async throws {
        let reader = Reader()
        let seats = WaitingSeats(4)
        let piece = noise(100_000)
        try await withListener(onConnection: reader.serve) { listener in
            let connection = try await dialer().dial(port: listener.port)
            try? await connection.output.executeThenClose { _, _ in
                let loan = try #require(try await borrow(connection.channel, seats))
                async let filled = fill(loan, piece)
                while seats.taken == 0 { try await Task.sleep(for: .milliseconds(1)) }
                connection.channel.close(promise: nil)
                let (taken, last) = await filled
                #expect(last != .sent)
                #expect(loan.send([ByteBuffer(bytes: piece)]) == .over)
                await reader.mayRead.fire(())
                #expect(await reader.received.wait() == repeated(piece, taken))
                #expect(await reader.end.wait() == nil)
            }
        }
    }

    @Test("a connection that is cut ends the wait of a borrower")
    func cut() async throws {
        let reader = Reader()
        let seats = WaitingSeats(4)
        try await withListener(onConnection: reader.serve) { listener in
            let connection = try await dialer().dial(port: listener.port)
            let channel = connection.channel
            try? await connection.output.executeThenClose { _, _ in
                let loan = try #require(try await borrow(channel, seats))
                async let filled = fill(loan, noise(100_000))
                while seats.taken == 0 { try await Task.sleep(for: .milliseconds(1)) }
                // Below TLS, as a crash would.
                try await channel.eventLoop.submit {
                    try channel.pipeline.syncOperations.context(handlerType: TLSHandler.self).close(promise: nil)
                }.get()
                #expect(await filled.last != .sent)
                #expect(loan.send([ByteBuffer(bytes: [1])]) == .over)
                await #expect(throws: (any Error).self) { try await channel.returnOutbound().get() }
            }
            await reader.mayRead.fire(())
            #expect(await reader.end.wait() != nil)
        }
    }

    @Test("if enough threads wait already, data that the socket does not take leaves through the channel")
    func crowded() async throws {
        let reader = Reader()
        let piece = noise(100_000)
        try await withListener(onConnection: reader.serve) { listener in
            let connection = try await dialer().dial(port: listener.port)
            try await connection.output.executeThenClose { _, outbound in
                let loan = try #require(try await borrow(connection.channel, WaitingSeats(0)))
                let (taken, last) = await fill(loan, piece)
                #expect(last == .left)
                await reader.mayRead.fire(())
                try await connection.channel.returnOutbound().get()
                let next = try #require(try await borrow(connection.channel))
                #expect(next.send([ByteBuffer(bytes: [7])]) == .sent)
                connection.channel.close(promise: nil)
                #expect(await reader.received.wait() == repeated(piece, taken) + [7])
            }
        }
    }

    @Test("it is lent to one at a time, and not while something is on its way in the channel")
    func refused() async throws {
        try await withListener { listener in
            let connection = try await dialer().dial(port: listener.port)
            try await connection.output.executeThenClose { _, _ in
                let channel = connection.channel
                let first = try await borrow(channel)
                #expect(first != nil)
                #expect(try await borrow(channel) == nil)
                try await channel.returnOutbound().get()
                try await channel.eventLoop.submit { channel.write(ByteBuffer(bytes: [1]), promise: nil) }.get()
                #expect(try await borrow(channel) == nil)
                channel.flush()
            }
            #expect(await connection.channel.borrowOutbound() == nil)
        }
    }
}
