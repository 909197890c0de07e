internal import Glibc
package import NIOCore
private import Synchronization
internal import SystemCalls

/// A connection's way to the peer, lent by its event loop to a thread that produces a long stream (`TLSHandler.lendOutbound`).
///
/// The thread encrypts what it has produced and gives it to the socket itself, a batch at a time, while everything is in its
/// core's cache. Each piece that goes by way of the event loop wakes two threads instead, and runs through a hundred functions
/// that the stream has meanwhile displaced from the cache.
///
/// The event loop takes it back (`takeBack`) whenever it needs the connection itself, for instance when the peer says something.
package final class OutboundLoan: Sendable {
    package enum Outcome: Equatable {
        /// Everything is with the kernel.
        case sent
        /// Everything was taken, and what the kernel has not taken leaves by way of the channel: to be waited for with
        /// `Channel.returnOutbound`.
        case left
        /// Nothing was taken: the loan is over.
        case over
    }

    /// What is lent; nil when it has been taken back.
    private let held: Mutex<Held?>
    private let bell: LoanBell

    /// - Parameters:
    ///   - engine: not touched by anybody else until `takeBack`.
    ///   - socket: the connection's, to which everything before has been written.
    ///   - seats: for threads that wait.
    /// - Throws: where there are no descriptors left.
    init(_ engine: TLSEngine, socket: CInt, seats: WaitingSeats) throws(SystemError) {
        bell = try LoanBell(seats)
        // A copy, because the channel may close its own at any time.
        held = Mutex(Held(engine, try SystemCalls.FileDescriptor.copy(of: socket)))
    }

    /// Encrypts `parts`, one behind the other, and gives them to the socket. May wait for the socket: to be called on a thread
    /// that may block.
    package func send(_ parts: [ByteBuffer]) -> Outcome {
        held.withLock { held in
            guard held != nil, !bell.hasRung else { return .over }
            do throws(TLSError) {
                return try held!.send(parts, bell) ? .sent : .left
            } catch {
                // The engine says it again to whoever uses it next.
                return .over
            }
        }
    }

    /// Ends the loan. Waits for `send`, which is told, for no longer than encrypting what it was called with.
    ///
    /// - Returns: what was encrypted and the socket has not taken.
    func takeBack() -> ByteBuffer {
        bell.ring()
        return held.withLock { held in
            let unsent = held?.unsent ?? ByteBuffer()
            held = nil
            return unsent
        }
    }
}

/// What a loan holds.
private struct Held: ~Copyable {
    // Unsafe only in the compiler's eyes: the handler leaves it alone until the loan is over.
    nonisolated(unsafe) private let engine: TLSEngine
    private let socket: SystemCalls.FileDescriptor
    private var pending = PendingPlaintext()
    /// Memory for each batch in turn.
    private var ciphertext = ByteBuffer()
    /// What was encrypted and the socket has not taken.
    private(set) var unsent = ByteBuffer()

    init(_ engine: TLSEngine, _ socket: consuming SystemCalls.FileDescriptor) {
        self.engine = engine
        self.socket = socket
    }

    /// - Returns: whether everything is with the kernel.
    mutating func send(_ parts: [ByteBuffer], _ bell: borrowing LoanBell) throws(TLSError) -> Bool {
        for part in parts { pending.append(part, promise: nil) }
        pending.flush()
        while pending.hasFlushed { try sendBatch(bell) }
        return unsent.readableBytes == 0
    }

    private mutating func sendBatch(_ bell: borrowing LoanBell) throws(TLSError) {
        let batch = min(TransportLimits.loanBatchBytes, pending.flushedBytes)
        ciphertext.clear(minimumCapacity: TLSEngine.ciphertextBound(of: batch))
        engine.provideOutbound(ciphertext)
        // Only the engine has it now, or filling it would copy it.
        ciphertext = ByteBuffer()
        var promises: [EventLoopPromise<Void>] = []
        try pending.encrypt(upTo: TransportLimits.loanBatchBytes, with: engine, completed: &promises)
        ciphertext = engine.takeOutbound()
        give(ciphertext, bell)
    }

    private mutating func give(_ bytes: ByteBuffer, _ bell: borrowing LoanBell) {
        var sent = 0
        let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
        bytes.withUnsafeReadableBytes { bytes in
            while unsent.readableBytes == 0, sent < bytes.count {
                let count = Glibc.send(socket.raw, bytes.baseAddress! + sent, bytes.count - sent, flags)
                if count >= 0 {
                    sent += count
                } else if errno != EINTR {
                    // What else there is to say the channel hears when it writes the rest.
                    guard errno == EAGAIN, bell.wait(for: socket, POLLOUT) else { return }
                }
            }
        }
        guard sent < bytes.readableBytes else { return }
        unsent.writeImmutableBuffer(bytes.getSlice(at: bytes.readerIndex + sent, length: bytes.readableBytes - sent)!)
    }
}

extension TLSHandler {
    /// Lends this side's way to the peer, where nothing is on its way in the channel and nothing waits to be decrypted.
    ///
    /// - Returns: nil where that is not so, and where the channel has no socket.
    func lendOutbound(_ seats: WaitingSeats = .shared) -> OutboundLoan? {
        guard outboundLoan == nil, inboundLoan == nil, state == .open, outbound == .open, !isEncrypting,
            pending.isEmpty,
            let context,
            !engine.hasOutbound, !engine.hasUnreadInput, !engine.peerHasClosed,
            (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) == 0
        else { return nil }
        outboundLoan =
            Self.withSocket(context) { socket in try? OutboundLoan(engine, socket: socket, seats: seats) } ?? nil
        return outboundLoan
    }

    /// Takes back what was lent: everything that this handler does with the engine begins here (`engine`).
    func reclaim() {
        reclaimOutbound()
        inboundLoan?.takeBack()
        inboundLoan = nil
    }

    private func reclaimOutbound() {
        guard let lent = outboundLoan else { return }
        outboundLoan = nil
        let unsent = lent.takeBack()
        guard unsent.readableBytes > 0, let context else { return }
        let isOut = context.eventLoop.makePromise(of: Void.self)
        unsentIsOut = isOut.futureResult
        context.writeAndFlush(Self.wrapOutboundOut(unsent), promise: isOut)
    }
}

extension Channel {
    /// Borrows the way to the peer, on a channel that a `SecureDialer` made; nil where it is not to be had now.
    package func borrowOutbound() async -> OutboundLoan? {
        try? await eventLoop.submit { try self.tlsHandler().lendOutbound() }.get()
    }

    /// Gives it back, and waits until everything is with the kernel that was sent on it.
    package func returnOutbound() -> EventLoopFuture<Void> {
        eventLoop.flatSubmit {
            guard let handler = try? self.tlsHandler() else {
                return self.eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel)
            }
            handler.reclaim()
            return handler.unsentIsOut ?? self.eventLoop.makeSucceededVoidFuture()
        }
    }
}
