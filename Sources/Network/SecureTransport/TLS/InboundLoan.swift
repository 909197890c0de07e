internal import Glibc
package import NIOCore
private import Synchronization
internal import SystemCalls

/// A connection's input from the peer, lent by its event loop to the thread that needs it (`TLSHandler.lendInbound`).
///
/// The thread reads the socket and decrypts, so that the plaintext is in its core's cache when it processes it. Through
/// the event loop every piece wakes two threads, crosses from one core's cache to another's, and runs through code that
/// the stream has meanwhile displaced.
///
/// The event loop takes it back (`takeBack`) whenever it needs the connection, for instance to write to the peer.
package final class InboundLoan: Sendable {
    /// The lent parts; nil after the loan was taken back.
    private let held: Mutex<Held?>
    private let bell: LoanBell

    /// - Parameters:
    ///   - engine: only the loan uses it until `takeBack`.
    ///   - socket: the connection's; only the loan reads from it until then.
    ///   - seats: for threads that wait.
    /// - Throws: if there are no descriptors left.
    init(_ engine: TLSEngine, socket: CInt, seats: WaitingSeats) throws(SystemError) {
        bell = try LoanBell(seats)
        // A copy, because the channel may close its own descriptor at any time.
        held = Mutex(Held(engine, try SystemCalls.FileDescriptor.copy(of: socket)))
    }

    /// The next plaintext, at most `TransportLimits.loanReadBytes`. May wait for the socket, for `loanPatience` at
    /// most: call it on a thread that may block.
    ///
    /// - Returns: nil when the loan is over: then call `Channel.returnInbound`. Later data, and the end or error of the
    ///   connection, come through the channel. The earlier results contain all plaintext until then.
    package func receive() -> ByteBuffer? {
        held.withLock { held in
            guard held != nil, !bell.hasRung else { return nil }
            return held!.receive(bell)
        }
    }

    /// Ends the loan. Interrupts `receive`, and waits no longer than it takes to decrypt the data that it has read.
    func takeBack() {
        bell.ring()
        held.withLock { $0 = nil }
    }
}

/// The parts that a loan holds.
private struct Held: ~Copyable {
    // Unsafe only for the compiler: the handler does not use it until the loan is over.
    nonisolated(unsafe) private let engine: TLSEngine
    private let socket: SystemCalls.FileDescriptor
    /// Memory for each read and for its plaintext: reused when the borrower has released it.
    private var ciphertext = ByteBuffer()
    private var plaintext = ByteBuffer()
    /// The engine has less than a record.
    private var needsInput = false
    private var isOver = false

    init(_ engine: TLSEngine, _ socket: consuming SystemCalls.FileDescriptor) {
        self.engine = engine
        self.socket = socket
        ReadShare.loans.add(1, ordering: .relaxed)
    }

    deinit { ReadShare.loans.subtract(1, ordering: .relaxed) }

    /// - Returns: nil if there is nothing that a borrower can handle.
    mutating func receive(_ bell: borrowing LoanBell) -> ByteBuffer? {
        while !isOver {
            if needsInput || !engine.hasUnreadInput {
                isOver = !read(bell)
            }
            if !isOver { decrypt() }
            if plaintext.readableBytes > 0 {
                defer { plaintext.moveReaderIndex(to: plaintext.writerIndex) }
                return plaintext
            }
        }
        return nil
    }

    /// - Returns: whether data has come. The channel finds any other event when it reads itself.
    private mutating func read(_ bell: borrowing LoanBell) -> Bool {
        let most = ReadShare.bytes
        ciphertext.clear(minimumCapacity: most)
        while true {
            var failure: CInt = 0
            let count = ciphertext.writeWithUnsafeMutableBytes(minimumWritableBytes: most) { room in
                let count = recv(socket.raw, room.baseAddress, most, Int32(MSG_DONTWAIT))
                if count < 0 { failure = errno }
                return max(count, 0)
            }
            if count > 0 { break }
            switch failure {
            case EINTR: continue
            case EAGAIN where bell.wait(for: socket, POLLIN, atMost: TransportLimits.loanPatience): continue
            default: return false
            }
        }
        engine.receive(ciphertext)
        return true
    }

    private mutating func decrypt() {
        plaintext.clear(minimumCapacity: ReadShare.bytes)
        let outcome = try? engine.decrypt(into: &plaintext)
        needsInput = outcome == .needsInput
        // The channel handles the peer's end and TLS's own answers. The engine repeats an error at the next call.
        if outcome == nil || outcome == .ended || engine.hasOutbound { isOver = true }
    }
}

/// Bytes per read: the reads of all loans of this process together stay within a bound.
private enum ReadShare {
    static let loans = Atomic<Int>(0)

    static var bytes: Int {
        let share = TransportLimits.loanReadBytesOfAll / max(1, loans.load(ordering: .relaxed))
        return min(max(share, TransportLimits.crowdedBufferBytes), TransportLimits.loanReadBytes)
    }
}

/// Ends the loan before a channel reads its socket, which it does by itself when the socket's stream has ended.
private struct LoanEndingAllocator: RecvByteBufferAllocator {
    var wrapped: any RecvByteBufferAllocator
    let loan: InboundLoan

    func buffer(allocator: ByteBufferAllocator) -> ByteBuffer {
        loan.takeBack()
        return wrapped.buffer(allocator: allocator)
    }

    func nextBufferSize() -> Int? {
        loan.takeBack()
        return wrapped.nextBufferSize()
    }

    mutating func record(actualReadBytes: Int) -> Bool { wrapped.record(actualReadBytes: actualReadBytes) }
}

extension TLSHandler {
    /// Lends the input from the peer, and reads nothing until `returnInbound`. Call it when this handler has fired
    /// `channelReadComplete` and is not reading.
    ///
    /// - Returns: nil if the channel has no socket, or something else is lent, or the connection is about to end.
    func lendInbound(_ seats: WaitingSeats = .shared) -> InboundLoan? {
        guard withheld == nil, outboundLoan == nil, state == .open, !socketInputHasEnded, let context,
            !engine.peerHasClosed,
            let options = context.channel.syncOptions, let allocator = try? options.getOption(.recvAllocator),
            let isAutomatic = try? options.getOption(.autoRead),
            let lent = Self.withSocket(context, { socket in try? InboundLoan(engine, socket: socket, seats: seats) }),
            let lent,
            (try? options.setOption(.recvAllocator, value: LoanEndingAllocator(wrapped: allocator, loan: lent))) != nil,
            (try? options.setOption(.autoRead, value: false)) != nil
        else { return nil }
        withheld = Reading(allocator: allocator, isAutomatic: isAutomatic)
        inboundLoan = lent
        return lent
    }

    /// Ends the loan and resumes reading.
    func returnInbound() {
        guard let reading = withheld else { return }
        withheld = nil
        reclaim()
        guard state == .open, let context, let options = context.channel.syncOptions else { return }
        try? options.setOption(.recvAllocator, value: reading.allocator)
        // TLS's own answers to the data that the borrower has read.
        sendOutbound(context, promise: nil)
        if engine.peerHasClosed { return peerHasEnded(context) }
        try? options.setOption(.autoRead, value: reading.isAutomatic)
        if reading.isAutomatic {
            context.pipeline.syncOperations.read()
        } else if hasDemand {
            read(context: context)
        }
    }
}

extension Channel {
    /// Borrows the input from the peer, on a channel of a `SecureListener` or `SecureDialer`; nil if unavailable now.
    ///
    /// On the channel's event loop, while it fires `channelReadComplete`.
    package func borrowInbound() -> InboundLoan? {
        (try? tlsHandler())?.lendInbound()
    }

    /// Returns the loan: later data comes through the channel. On its event loop.
    package func returnInbound() {
        (try? tlsHandler())?.returnInbound()
    }
}
