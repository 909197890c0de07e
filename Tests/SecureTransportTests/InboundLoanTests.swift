import COpenSSL
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import Sharing
import Testing

@testable import SecureTransport

/// Connections that lend the peer's data to a thread.
@Suite("Lending the peer's data to a thread", .timeLimit(.minutes(1)))
struct InboundLoanTests {
    /// A server's connection, on whose thread a test does what it wants.
    private struct Borrower: Sendable {
        let channel: any Channel

        func borrow(_ seats: WaitingSeats = WaitingSeats(4)) async throws -> InboundLoan? {
            try await channel.eventLoop.submit { [channel] in try channel.tlsHandler().lendInbound(seats) }.get()
        }

        func giveBack() async throws {
            try await channel.eventLoop.submit { [channel] in channel.returnInbound() }.get()
        }

        /// Receives on a thread of its own, until there are so many bytes or the loan is over.
        func receive(_ loan: InboundLoan, atLeast count: Int) async -> (bytes: [UInt8], isOver: Bool) {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    var bytes: [UInt8] = []
                    while bytes.count < count {
                        guard let next = loan.receive() else { return continuation.resume(returning: (bytes, true)) }
                        bytes += next.readableBytesView
                    }
                    continuation.resume(returning: (bytes, false))
                }
            }
        }
    }

    private typealias Inbound = NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    private typealias Outbound = NIOAsyncChannelOutboundWriter<ByteBuffer>

    /// Runs both ends of one connection: `serve` at the listener's, `dial` at the other.
    private func connect(
        _ serve: @escaping @Sendable (Borrower, inout Inbound, Outbound) async throws -> Void,
        _ dial: @escaping @Sendable (any Channel, inout Inbound, Outbound) async throws -> Void
    ) async throws {
        let served = Signal<Result<Void, any Error>>()
        try await withListener { connection in
            let result: Result<Void, any Error>
            do {
                try await connection.output.executeThenClose { inbound, outbound in
                    var inbound = inbound.makeAsyncIterator()
                    try await serve(Borrower(channel: connection.channel), &inbound, outbound)
                }
                result = .success(())
            } catch {
                result = .failure(error)
            }
            await served.fire(result)
        } _: { listener in
            let connection = try await dialer().dial(port: listener.port)
            try? await connection.output.executeThenClose { inbound, outbound in
                var inbound = inbound.makeAsyncIterator()
                try await dial(connection.channel, &inbound, outbound)
            }
            try await served.wait().get()
        }
    }

    private func read(_ count: Int, _ inbound: inout Inbound) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count, let next = try await inbound.next() { bytes += next.readableBytesView }
        return bytes
    }

    /// The rest of a stream, and how it ends.
    private func readToEnd(_ inbound: inout Inbound) async -> (bytes: [UInt8], end: TLSError.Code?) {
        var bytes: [UInt8] = []
        do {
            while let next = try await inbound.next() { bytes += next.readableBytesView }
            return (bytes, nil)
        } catch {
            return (bytes, (error as? TLSError)?.code ?? .setUpFailed)
        }
    }

    @Test("lent data has its order, between the data that comes through the channel before and afterwards")
    func order() async throws {
        let parts = [1, 7, 16_384, 300_001, 2, 491_511, 20_000].enumerated().map { noise($1, seed: UInt64($0)) }
        let long = parts.flatMap { $0 }
        let lent = Signal<Void>()
        let given = Signal<Void>()
        try await connect { borrower, inbound, outbound in
            #expect(try await read(5_000, &inbound) == noise(5_000, seed: 99))
            let first = try #require(try await borrower.borrow())
            await lent.fire(())
            var bytes = await borrower.receive(first, atLeast: 100_000).bytes
            try await borrower.giveBack()
            #expect(first.receive() == nil)
            // Once too often does no harm.
            try await borrower.giveBack()
            bytes += try await read(long.count - bytes.count, &inbound)
            #expect(bytes == long)
            await given.fire(())
            #expect(try await read(5, &inbound) == [1, 2, 3, 4, 5])
        } _: { _, _, outbound in
            try await outbound.write(ByteBuffer(bytes: noise(5_000, seed: 99)))
            await lent.wait()
            for part in parts { try await outbound.write(ByteBuffer(bytes: part)) }
            await given.wait()
            try await outbound.write(ByteBuffer(bytes: [1, 2, 3, 4, 5]))
        }
    }

    @Test("a borrower gets all of a long stream, and the channel its end")
    func wholeStream() async throws {
        let long = noise(3_000_000)
        let lent = Signal<Void>()
        try await connect { borrower, inbound, _ in
            let loan = try #require(try await borrower.borrow())
            await lent.fire(())
            var (bytes, isOver) = await borrower.receive(loan, atLeast: .max)
            #expect(isOver)
            try await borrower.giveBack()
            let (rest, end) = await readToEnd(&inbound)
            bytes += rest
            #expect(bytes == long)
            #expect(end == nil)
        } _: { channel, _, outbound in
            await lent.wait()
            try await outbound.write(ByteBuffer(bytes: long))
            try await channel.close().get()
        }
    }

    @Test("a cut connection ends for the borrower, and is truncated for the next reader of the channel")
    func cut() async throws {
        let lent = Signal<Void>()
        try await connect { borrower, inbound, _ in
            let loan = try #require(try await borrower.borrow())
            await lent.fire(())
            #expect(await borrower.receive(loan, atLeast: .max).isOver)
            try await borrower.giveBack()
            #expect(await readToEnd(&inbound).end == .truncated)
        } _: { channel, _, outbound in
            await lent.wait()
            try await outbound.write(ByteBuffer(bytes: noise(100_000)))
            // Below TLS, as a crash would.
            try await channel.eventLoop.submit {
                try channel.pipeline.syncOperations.context(handlerType: TLSHandler.self).close(promise: nil)
            }.get()
        }
    }

    @Test("a peer that ends while the borrower does not read has its bytes and its end in the channel")
    func endedMeanwhile() async throws {
        let long = noise(50_000)
        let lent = Signal<Void>()
        try await connect { borrower, inbound, _ in
            let loan = try #require(try await borrower.borrow())
            await lent.fire(())
            // The channel itself reads to the announced end.
            let (bytes, end) = await readToEnd(&inbound)
            #expect(bytes == long)
            #expect(end == nil)
            #expect(loan.receive() == nil)
        } _: { channel, _, outbound in
            await lent.wait()
            try await outbound.write(ByteBuffer(bytes: long))
            try await channel.close().get()
        }
    }

    @Test("saying something to the peer ends the wait of a borrower")
    func spokenTo() async throws {
        let seats = WaitingSeats(4)
        try await connect { borrower, inbound, outbound in
            let loan = try #require(try await borrower.borrow(seats))
            async let received = borrower.receive(loan, atLeast: 1)
            try await outbound.write(ByteBuffer(bytes: [7]))
            #expect(await received.isOver)
            #expect(loan.receive() == nil)
            try await borrower.giveBack()
            #expect(try await read(2, &inbound) == [8, 9])
            #expect(seats.taken == 0)
        } _: { _, inbound, outbound in
            #expect(try await read(1, &inbound) == [7])
            try await outbound.write(ByteBuffer(bytes: [8, 9]))
        }
    }

    @Test("closing the connection ends the wait of a borrower")
    func closed() async throws {
        try await connect { borrower, _, _ in
            let loan = try #require(try await borrower.borrow())
            async let received = borrower.receive(loan, atLeast: 1)
            borrower.channel.close(promise: nil)
            #expect(await received.isOver)
            // The handler may be gone by then.
            #expect(((try? await borrower.borrow()) ?? nil) == nil)
        } _: { _, inbound, _ in
            _ = try await inbound.next()
        }
    }

    @Test("a peer that sends nothing, and one for whom there is no seat, is left to the channel", arguments: [0, 4])
    func silent(seats: Int) async throws {
        let isOver = Signal<Void>()
        try await connect { borrower, inbound, _ in
            let loan = try #require(try await borrower.borrow(WaitingSeats(seats)))
            #expect(await borrower.receive(loan, atLeast: 1).isOver)
            try await borrower.giveBack()
            await isOver.fire(())
            #expect(try await read(2, &inbound) == [1, 2])
            // And may be lent again.
            #expect(try await borrower.borrow() != nil)
        } _: { _, inbound, outbound in
            await isOver.wait()
            try await outbound.write(ByteBuffer(bytes: [1, 2]))
            _ = try await inbound.next()
        }
    }

    @Test("it is lent to one at a time, and not beside the way to the peer")
    func refused() async throws {
        try await connect { borrower, _, _ in
            #expect(try await borrower.borrow() != nil)
            #expect(try await borrower.borrow() == nil)
            #expect(await borrower.channel.borrowOutbound() == nil)
            try await borrower.giveBack()
            #expect(await borrower.channel.borrowOutbound() != nil)
            #expect(try await borrower.borrow() == nil)
        } _: { _, inbound, _ in
            _ = try await inbound.next()
        }
    }

    @Test("a peer may ask for new keys while what it sends is lent")
    func newKeys() async throws {
        let lent = Signal<Void>()
        try await connect { borrower, inbound, outbound in
            let loan = try #require(try await borrower.borrow())
            await lent.fire(())
            var bytes = await borrower.receive(loan, atLeast: 200_002).bytes
            // On a busy machine the peer may have been silent for so long that the loan was over.
            try await borrower.giveBack()
            bytes += try await read(200_002 - bytes.count, &inbound)
            #expect(bytes == [1] + noise(200_000) + [2])
            try await outbound.write(ByteBuffer(bytes: [3]))
        } _: { channel, inbound, outbound in
            await lent.wait()
            try await outbound.write(ByteBuffer(bytes: [1]))
            try await channel.eventLoop.submit {
                let connection = try channel.tlsHandler().engine.connection
                #expect(SSL_key_update(connection, SSL_KEY_UPDATE_REQUESTED) == 1)
            }.get()
            try await outbound.write(ByteBuffer(bytes: noise(200_000)))
            try await outbound.write(ByteBuffer(bytes: [2]))
            #expect(try await read(1, &inbound) == [3])
        }
    }
}
