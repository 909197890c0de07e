internal import Glibc
package import NIOCore
private import Synchronization
internal import SystemCalls

/// A connection's output, lent by its event loop to a thread that produces a long stream (`TLSHandler.lendOutbound`).
///
/// The thread encrypts its data and gives it to the socket itself, a batch at a time, while everything is in its core's
/// cache. Through the event loop each piece wakes two threads instead, and runs through a hundred functions that the
/// stream has meanwhile displaced from the cache.
///
/// The event loop takes it back (`takeBack`) whenever it needs the connection, for instance when the peer sends data.
package final class OutboundLoan: Sendable {
    package enum Outcome: Equatable {
        /// The kernel has every byte.
        case sent
        /// Every byte was taken. The channel sends those that the kernel has not taken: wait for them with
        /// `Channel.returnOutbound`.
        case left
        /// No byte was taken: the loan is over.
        case over
    }

    /// The lent parts; nil after the loan was taken back.
    private let held: Mutex<Held?>
    private let bell: LoanBell

    /// - Parameters:
    ///   - engine: only the loan uses it until `takeBack`.
    ///   - socket: the connection's; all earlier output has been written to it.
    ///   - seats: for threads that wait.
    /// - Throws: if there are no descriptors left.
    init(_ engine: TLSEngine, socket: CInt, seats: WaitingSeats) throws(SystemError) {
        bell = try LoanBell(seats)
        // A copy, because the channel may close its own descriptor at any time.
        held = Mutex(Held(engine, try SystemCalls.FileDescriptor.copy(of: socket)))
    }

    /// Encrypts `parts` in order, and gives them to the socket. May wait for the socket: call it on a thread that may
    /// block.
    package func send(_ parts: [ByteBuffer]) -> Outcome {
        held.withLock { held in
            guard held != nil, !bell.hasRung else { return .over }
            do throws(TLSError) {
                return try held!.send(parts, bell) ? .sent : .left
            } catch {
                // The engine repeats the error at its next use.
                return .over
            }
        }
    }

    /// Ends the loan. Interrupts `send`, and waits no longer than it takes to encrypt its data.
    ///
    /// - Returns: the encrypted bytes that the socket has not taken.
    func takeBack() -> ByteBuffer {
        bell.ring()
        return held.withLock { held in
            let unsent = held?.unsent ?? ByteBuffer()
            held = nil
            return unsent
        }
    }
}

/// The parts that a loan holds.
private struct Held: ~Copyable {
    // Unsafe only for the compiler: the handler does not use it until the loan is over.
    nonisolated(unsafe) private let engine: TLSEngine
    private let socket: SystemCalls.FileDescriptor
    private var pending = PendingPlaintext()
    /// Memory for each batch in turn.
    private var ciphertext = ByteBuffer()
    /// Encrypted bytes that the socket has not taken.
    private(set) var unsent = ByteBuffer()

    init(_ engine: TLSEngine, _ socket: consuming SystemCalls.FileDescriptor) {
        self.engine = engine
        self.socket = socket
    }

    /// - Returns: whether the kernel has every byte.
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
        // Only the engine holds the buffer now: a second owner would cause a copy when it is filled.
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
                    // The channel finds any other error when it writes the rest.
                    guard errno == EAGAIN, bell.wait(for: socket, POLLOUT) else { return }
                }
            }
        }
        guard sent < bytes.readableBytes else { return }
        unsent.writeImmutableBuffer(bytes.getSlice(at: bytes.readerIndex + sent, length: bytes.readableBytes - sent)!)
    }
}

extension TLSHandler {
    /// Lends this side's output to the peer, if no data is on its way in the channel or waits to be decrypted.
    ///
    /// - Returns: nil if that is not so, or the channel has no socket.
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

    /// Takes back all loans. Each use of the engine by this handler begins with this call (`engine`).
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
    /// Borrows the output to the peer, on a channel that a `SecureDialer` made; nil if it is not available now.
    package func borrowOutbound() async -> OutboundLoan? {
        try? await eventLoop.submit { try self.tlsHandler().lendOutbound() }.get()
    }

    /// Returns the loan, and waits until the kernel has everything that was sent on it.
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
