internal import Glibc
package import NIOCore
private import Synchronization
internal import SystemCalls

/// What comes from a connection's peer, lent by its event loop to the thread that wants it (`TLSHandler.lendInbound`).
///
/// The thread reads the socket and decrypts, and has the plaintext in its core's cache when it goes on with it. By way of the
/// event loop every piece wakes two threads, crosses from one core's cache to another's, and runs through what the stream has
/// meanwhile displaced.
///
/// The event loop takes it back (`takeBack`) whenever it needs the connection itself, for instance to say something to the peer.
package final class InboundLoan: Sendable {
    /// What is lent; nil when it has been taken back.
    private let held: Mutex<Held?>
    private let bell: LoanBell

    /// - Parameters:
    ///   - engine: not touched by anybody else until `takeBack`.
    ///   - socket: the connection's, from which nobody else reads until then.
    ///   - seats: for threads that wait.
    /// - Throws: where there are no descriptors left.
    init(_ engine: TLSEngine, socket: CInt, seats: WaitingSeats) throws(SystemError) {
        bell = try LoanBell(seats)
        // A copy, because the channel may close its own at any time.
        held = Mutex(Held(engine, try SystemCalls.FileDescriptor.copy(of: socket)))
    }

    /// The next plaintext, at most `TransportLimits.loanReadBytes`. May wait for the socket, for `loanPatience` at most: to be
    /// called on a thread that may block.
    ///
    /// - Returns: nil when the loan is over: to be given back with `Channel.returnInbound`, and what comes next, or what there is
    ///   to say of the end, comes through the channel. What was given before is all that there was until then.
    package func receive() -> ByteBuffer? {
        held.withLock { held in
            guard held != nil, !bell.hasRung else { return nil }
            return held!.receive(bell)
        }
    }

    /// Ends the loan. Waits for `receive`, which is told, for no longer than decrypting what it has read.
    func takeBack() {
        bell.ring()
        held.withLock { $0 = nil }
    }
}

/// What a loan holds.
private struct Held: ~Copyable {
    // Unsafe only in the compiler's eyes: the handler leaves it alone until the loan is over.
    nonisolated(unsafe) private let engine: TLSEngine
    private let socket: SystemCalls.FileDescriptor
    /// Memory for each read in turn, and for what it becomes: used again when the borrower is done with it.
    private var ciphertext = ByteBuffer()
    private var plaintext = ByteBuffer()
    /// What the engine has is less than a record.
    private var needsInput = false
    private var isOver = false

    init(_ engine: TLSEngine, _ socket: consuming SystemCalls.FileDescriptor) {
        self.engine = engine
        self.socket = socket
        ReadShare.loans.add(1, ordering: .relaxed)
    }

    deinit { ReadShare.loans.subtract(1, ordering: .relaxed) }

    /// - Returns: nil where there is nothing that a borrower could deal with.
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

    /// - Returns: whether something has come. What else there is to say the channel hears when it reads itself.
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
        // The peer's end, and what TLS itself has to answer, are the channel's; an error the engine says once more.
        if outcome == nil || outcome == .ended || engine.hasOutbound { isOver = true }
    }
}

/// How much is read at once: what all loans of this process read together stays within a bound.
private enum ReadShare {
    static let loans = Atomic<Int>(0)

    static var bytes: Int {
        let share = TransportLimits.loanReadBytesOfAll / max(1, loans.load(ordering: .relaxed))
        return min(max(share, TransportLimits.crowdedBufferBytes), TransportLimits.loanReadBytes)
    }
}

/// What a channel asks before it reads its socket, which it does by itself when the socket's own stream has ended.
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
    /// Lends what comes from the peer, and reads nothing until `returnInbound`. To be called when this handler has fired
    /// `channelReadComplete`, and nothing is read meanwhile.
    ///
    /// - Returns: nil where the channel has no socket, and where something else is lent or the connection is about to end.
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

    /// Ends the loan, and goes on reading.
    func returnInbound() {
        guard let reading = withheld else { return }
        withheld = nil
        reclaim()
        guard state == .open, let context, let options = context.channel.syncOptions else { return }
        try? options.setOption(.recvAllocator, value: reading.allocator)
        // What TLS itself wants to answer to what the borrower has read.
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
    /// Borrows what comes from the peer, on a channel of a `SecureListener` or `SecureDialer`; nil where it is not to be had now.
    ///
    /// On the channel's event loop, while it fires `channelReadComplete`.
    package func borrowInbound() -> InboundLoan? {
        (try? tlsHandler())?.lendInbound()
    }

    /// Gives it back: what comes next comes through the channel. On its event loop.
    package func returnInbound() {
        (try? tlsHandler())?.returnInbound()
    }
}
