internal import CLinuxShims
internal import Glibc
package import NIOCore
private import Synchronization
internal import SystemCalls

/// A connection that has left its channel: TLS and the socket belong to the thread that moves a long stream.
///
/// The thread reads the socket and decrypts, or encrypts and writes, so that the bytes are in its core's cache when it
/// handles them. Every call may block. All calls except `interrupt` and `sendIfIdle` are that thread's alone.
///
/// ```
/// channel ──Channel.leave──▶ open ──close, or the last reference is gone──▶ closed
///                             │  interrupt
///                             └──▶ interrupted (one call throws it; the later ones have `closeDeadline` in all) ──▶ closed
/// ```
package final class SecureStream: Sendable {
    private let line: Mutex<Line>
    private let wakeup: Wakeup
    /// Uptime in nanoseconds when the thread last began to wait for the peer, or has waited.
    private let turn = Atomic<UInt64>(NIODeadline.now().uptimeNanoseconds)

    /// - Parameters:
    ///   - engine: only the stream uses it from now on.
    ///   - socket: the connection's; all earlier output has been written to it. It is copied.
    ///   - early: plaintext that has come before.
    /// - Throws: if there are no descriptors left.
    init(_ engine: TLSEngine, socket: CInt, early: ByteBuffer) throws(SystemError) {
        wakeup = try Wakeup()
        line = Mutex(Line(engine, try SystemCalls.FileDescriptor.copy(of: socket), early))
    }

    /// When the thread last turned to the peer.
    package var lastTurn: NIODeadline { .uptimeNanoseconds(turn.load(ordering: .relaxed)) }

    /// The next plaintext. Its memory is used again: let go of it before the next call.
    ///
    /// - Returns: nil when the peer has ended its stream properly.
    package func receive(within timeout: PeerTimeout) throws(SecureStreamError) -> ByteBuffer? {
        noteTurn()
        defer { noteTurn() }
        return try line.withLock { line throws(SecureStreamError) in try line.receive(timeout.deadline, wakeup) }
    }

    /// Encrypts and sends `bytes`, until the kernel has all of them or the peer says something.
    ///
    /// - Parameters:
    ///   - bytes: those that are left to send; call it again with the rest.
    ///   - timeout: for the peer to take all of them, or to say something.
    ///   - isListening: whether plaintext from the peer ends the call. If not, `bytes` are this side's last words: an
    ///     interruption does not end the call either, but shortens it to `TransportLimits.closeDeadline`.
    /// - Returns: nil if the kernel has all bytes; otherwise plaintext of the peer, with memory as that of `receive`.
    package func send(
        _ bytes: inout ByteBuffer, within timeout: PeerTimeout, isListening: Bool
    ) throws(SecureStreamError) -> ByteBuffer? {
        noteTurn()
        defer { noteTurn() }
        return try line.withLock { line throws(SecureStreamError) in
            try line.send(&bytes, timeout.deadline, isListening, wakeup)
        }
    }

    /// One turn of a conversation in which both sides speak at any time. It never waits longer than to `deadline`, and the end
    /// of that time is no fault.
    ///
    /// - Parameters:
    ///   - bytes: those that are left to send; what is left goes to the next turn.
    ///   - isReading: whether the peer's words are read. If not, its end is noticed late.
    ///   - nudge: ends the wait, so that the thread finds new work.
    /// - Returns: plaintext of the peer, with memory as that of `receive`; nil if all bytes have just left, if the thread was
    ///   nudged, or at the deadline.
    /// - Throws: `closed` also if the peer has ended its stream.
    package func turn(
        _ bytes: inout ByteBuffer, until deadline: NIODeadline, isReading: Bool = true, nudge: Nudge
    ) throws(SecureStreamError) -> ByteBuffer? {
        noteTurn()
        defer { noteTurn() }
        return try line.withLock { line throws(SecureStreamError) in
            try line.turn(&bytes, deadline, isReading: isReading, wakeup, nudge)
        }
    }

    /// Sends a few bytes between two calls of the stream's thread, if it is busy elsewhere and the socket takes them.
    package func sendIfIdle(_ bytes: ByteBuffer) {
        line.withLockIfAvailable { line in line.sendAtOnce(bytes) }
    }

    /// Ends this side's stream, and then the connection: as soon as the peer has ended its own, or after `lingering`.
    ///
    /// Closing at once would reset the connection of a peer that is still sending, and destroy what it has not read.
    package func close(lingering: Duration) {
        line.withLock { line in line.close(PeerTimeout(lingering).deadline, wakeup) }
    }

    /// Makes the stream's thread throw `interrupted`, now or at its next call. From any thread.
    package func interrupt() { wakeup.ring() }

    private func noteTurn() { turn.store(NIODeadline.now().uptimeNanoseconds, ordering: .relaxed) }
}

/// The parts of a stream.
private struct Line: ~Copyable {
    // Unsafe only for the compiler: the handler that had it does not use it any more.
    nonisolated(unsafe) private let engine: TLSEngine
    /// Nil after `close`.
    private var socket: SystemCalls.FileDescriptor?
    private var early: ByteBuffer
    /// Memory for each read and for its plaintext: reused when the thread has released it.
    private var ciphertext = ByteBuffer()
    private var plaintext = ByteBuffer()
    /// Encrypted bytes that the socket has not taken; memory for each batch in turn.
    private var unsent = ByteBuffer()
    /// The engine has less than a record.
    private var needsInput = false
    private var peerHasEnded = false
    /// The error that ended the connection.
    private var failure: SecureStreamError?
    /// The socket takes no more bytes. Earlier bytes of the peer can still be read.
    private var outputHasFailed = false
    /// When the stream was interrupted: the time until which it may take leave of the peer.
    private var leaveDeadline: NIODeadline?
    private let share: ReadShare

    init(_ engine: TLSEngine, _ socket: consuming SystemCalls.FileDescriptor, _ early: ByteBuffer) {
        self.engine = engine
        self.socket = consume socket
        self.early = early
        share = ReadShare(engine.context.role)
    }

    deinit { share.leave() }

    // MARK: From the peer

    mutating func receive(
        _ deadline: NIODeadline, _ wakeup: borrowing Wakeup
    ) throws(SecureStreamError) -> ByteBuffer? {
        try check(wakeup)
        if early.readableBytes > 0 { return takeEarly() }
        while true {
            if let bytes = try decrypted() { return bytes }
            if peerHasEnded { return nil }
            while try !read() {
                try wait(unsent.readableBytes > 0 ? POLLIN | POLLOUT : POLLIN, until: deadline, wakeup)
                if unsent.readableBytes > 0 { try push() }
            }
        }
    }

    /// - Returns: nil if more input is needed, or the peer has ended its stream.
    private mutating func decrypted() throws(SecureStreamError) -> ByteBuffer? {
        guard !needsInput, !peerHasEnded, engine.hasUnreadInput else { return nil }
        plaintext.clearOrShrink(to: share.bytes)
        do throws(TLSError) {
            let outcome = try engine.decrypt(into: &plaintext)
            needsInput = outcome == .needsInput
            peerHasEnded = outcome == .ended
        } catch {
            throw fail(.closed)
        }
        // TLS's own answer, such as a new key.
        if engine.hasOutbound {
            unsent.writeImmutableBuffer(engine.takeOutbound())
            try push()
        }
        guard plaintext.readableBytes > 0 else { return nil }
        defer { plaintext.moveReaderIndex(to: plaintext.writerIndex) }
        return plaintext
    }

    /// - Returns: whether the socket had bytes.
    private mutating func read() throws(SecureStreamError) -> Bool {
        guard let socket = socket?.raw else { throw fail(.closed) }
        let most = share.bytes
        ciphertext.clearOrShrink(to: most)
        while true {
            var error: CInt = 0
            let count = ciphertext.writeWithUnsafeMutableBytes(minimumWritableBytes: most) { room in
                let count = recv(socket, room.baseAddress, most, Int32(MSG_DONTWAIT))
                if count < 0 { error = errno }
                return max(count, 0)
            }
            if count > 0 { break }
            switch error {
            case EINTR: continue
            case EAGAIN: return false
            // The end without close_notify, too: bytes may be missing.
            default: throw fail(.closed)
            }
        }
        engine.receive(ciphertext)
        needsInput = false
        return true
    }

    // MARK: To the peer

    mutating func send(
        _ bytes: inout ByteBuffer, _ deadline: NIODeadline, _ isListening: Bool, _ wakeup: borrowing Wakeup
    ) throws(SecureStreamError) -> ByteBuffer? {
        do {
            try check(wakeup)
        } catch .interrupted where !isListening {
            // `leaveDeadline` is set.
        }
        while true {
            if isListening, let said = try heard() { return said }
            repeat {
                if unsent.readableBytes == 0, bytes.readableBytes > 0 { try encryptBatch(of: &bytes) }
                try push()
            } while unsent.readableBytes == 0 && bytes.readableBytes > 0
            if unsent.readableBytes == 0 { return nil }
            do {
                try wait(isListening ? POLLIN | POLLOUT : POLLOUT, until: deadline, wakeup)
            } catch .interrupted where !isListening {
                continue
            }
        }
    }

    mutating func turn(
        _ bytes: inout ByteBuffer, _ deadline: NIODeadline, isReading: Bool, _ wakeup: borrowing Wakeup, _ nudge: Nudge
    ) throws(SecureStreamError) -> ByteBuffer? {
        try check(wakeup)
        let isSending = bytes.readableBytes > 0 || unsent.readableBytes > 0
        while true {
            if isReading, let said = try heard() { return said }
            repeat {
                if unsent.readableBytes == 0, bytes.readableBytes > 0 { try encryptBatch(of: &bytes) }
                try push()
            } while unsent.readableBytes == 0 && bytes.readableBytes > 0
            if unsent.readableBytes == 0, isSending || nudge.isHeard() { return nil }
            guard let socket = socket?.raw else { throw fail(.closed) }
            let events = (isReading ? POLLIN : 0) | (unsent.readableBytes > 0 ? POLLOUT : 0)
            switch wakeup.wait(for: socket, events, until: deadline, nudge: nudge) {
            // Without reading, only an error of the socket is not waited for.
            case .ready(let found) where !isReading && CInt(found) & (POLLERR | POLLHUP) != 0: throw fail(.closed)
            case .ready: continue
            case .timedOut: return nil
            case .nudged: if nudge.isHeard() { return nil }
            case .rung: throw interrupted()
            }
        }
    }

    /// Plaintext of the peer that is here already; nil for none. Does not wait.
    private mutating func heard() throws(SecureStreamError) -> ByteBuffer? {
        if early.readableBytes > 0 { return takeEarly() }
        repeat {
            if let bytes = try decrypted() { return bytes }
            // A peer that has ended its stream without an answer takes nothing more.
            if peerHasEnded { throw fail(.closed) }
        } while try read()
        return nil
    }

    private mutating func takeEarly() -> ByteBuffer {
        defer { early = ByteBuffer() }
        return early
    }

    mutating func sendAtOnce(_ bytes: ByteBuffer) {
        guard failure == nil, leaveDeadline == nil, socket != nil, unsent.readableBytes == 0 else { return }
        var bytes = bytes
        do {
            try encryptBatch(of: &bytes)
            try push()
        } catch {
            // The thread's next call throws it.
        }
    }

    /// Encrypts as much as stays in the core's cache together with its plaintext. `unsent` is empty before.
    private mutating func encryptBatch(of bytes: inout ByteBuffer) throws(SecureStreamError) {
        let count = min(TransportLimits.streamBatchBytes, bytes.readableBytes)
        unsent.clear(minimumCapacity: TLSEngine.ciphertextBound(of: count))
        engine.provideOutbound(unsent)
        // Only the engine holds the buffer now: a second owner would cause a copy when it is filled.
        unsent = ByteBuffer()
        defer { unsent = engine.takeOutbound() }
        do throws(TLSError) {
            try engine.encrypt(count, of: &bytes)
        } catch {
            throw fail(.closed)
        }
    }

    /// Gives the socket what it takes now.
    private mutating func push() throws(SecureStreamError) {
        guard let socket = socket?.raw, !outputHasFailed else { throw .closed }
        guard unsent.readableBytes > 0 else { return }
        var error: CInt = 0
        unsent.readWithUnsafeReadableBytes { bytes in
            var sent = 0
            while sent < bytes.count {
                let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
                let count = Glibc.send(socket, bytes.baseAddress! + sent, bytes.count - sent, flags)
                if count >= 0 {
                    sent += count
                } else if errno != EINTR {
                    error = errno
                    break
                }
            }
            return sent
        }
        guard error != 0, error != EAGAIN else { return }
        outputHasFailed = true
        unsent = ByteBuffer()
        throw .closed
    }

    // MARK: Waiting and ending

    private mutating func fail(_ error: SecureStreamError) -> SecureStreamError {
        failure = error
        return error
    }

    private mutating func check(_ wakeup: borrowing Wakeup) throws(SecureStreamError) {
        if let failure { throw failure }
        if wakeup.hasRung, leaveDeadline == nil { throw interrupted() }
    }

    private mutating func interrupted() -> SecureStreamError {
        leaveDeadline = .now() + TimeAmount(engine.context.limits.closeDeadline)
        return .interrupted
    }

    private mutating func wait(
        _ events: CInt, until deadline: NIODeadline, _ wakeup: borrowing Wakeup
    ) throws(SecureStreamError) {
        guard let socket = socket?.raw else { throw fail(.closed) }
        let last = leaveDeadline ?? deadline
        switch wakeup.wait(for: socket, events, until: min(deadline, last), ignoresBell: leaveDeadline != nil) {
        case .ready: return
        case .timedOut: throw fail(.silent)
        case .rung, .nudged: throw interrupted()
        }
    }

    mutating func close(_ deadline: NIODeadline, _ wakeup: borrowing Wakeup) {
        defer { socket = nil }
        guard failure == nil, !outputHasFailed, let socket = socket?.raw else { return }
        do throws(SecureStreamError) {
            // Encrypted bytes go first: nothing can follow a part of a record.
            while unsent.readableBytes > 0 {
                try push()
                if unsent.readableBytes > 0 { try wait(POLLOUT, until: deadline, wakeup) }
            }
            engine.closeOutbound()
            unsent = engine.takeOutbound()
            try push()
            guard unsent.readableBytes == 0, shutdown(socket, CInt(SHUT_WR)) == 0 else { return }
            try skip(socket, until: deadline, wakeup)
        } catch {
            // It is closed in any case.
        }
    }

    /// Reads on for a while, and drops it. Unwanted bytes beyond a limit are left in the socket: reading them would
    /// cost as much as using them.
    private mutating func skip(
        _ socket: CInt, until deadline: NIODeadline, _ wakeup: borrowing Wakeup
    ) throws(SecureStreamError) {
        var skipped = 0
        let most = TransportLimits.minimumStreamReadBytes
        ciphertext.clearOrShrink(to: most)
        while true {
            let isReading = skipped < TransportLimits.streamSkippedBytes
            // Without events: until both sides have ended.
            try wait(isReading ? POLLIN : 0, until: deadline, wakeup)
            guard isReading else { return }
            ciphertext.clear()
            let count = ciphertext.writeWithUnsafeMutableBytes(minimumWritableBytes: most) { room in
                max(recv(socket, room.baseAddress, most, Int32(MSG_DONTWAIT)), 0)
            }
            guard count > 0 else { return }
            skipped += count
        }
    }
}

/// Bytes per read of one stream: those that receive share a bound.
private struct ReadShare {
    private static let receivers = Atomic<Int>(0)

    /// Whether the stream's side receives: a client hears little.
    private let isReceiver: Bool

    init(_ role: TLSContext.Role) {
        isReceiver = role == .server
        if isReceiver { Self.receivers.add(1, ordering: .relaxed) }
    }

    func leave() {
        if isReceiver { Self.receivers.subtract(1, ordering: .relaxed) }
    }

    var bytes: Int {
        guard isReceiver else { return TransportLimits.minimumStreamReadBytes }
        let share = TransportLimits.streamReadBytesOfAll / max(1, Self.receivers.load(ordering: .relaxed))
        return min(max(share, TransportLimits.minimumStreamReadBytes), TransportLimits.streamReadBytes)
    }
}

extension ByteBuffer {
    /// Empties it, with room for so many bytes, and not for many more: it may have been alone before.
    fileprivate mutating func clearOrShrink(to bytes: Int) {
        if capacity > 2 * bytes { self = ByteBuffer() }
        clear(minimumCapacity: bytes)
    }
}

/// Lets a thread wait for a socket, and lets any other thread end the wait.
struct Wakeup: ~Copyable, Sendable {
    enum Event {
        /// These events, of those that the thread waits for, or an error of the socket.
        case ready(CInt)
        case timedOut
        case rung
        case nudged
    }

    /// An eventfd.
    private let bell: SystemCalls.FileDescriptor
    private let rung = Atomic<Bool>(false)

    /// - Throws: if there are no descriptors left.
    init() throws(SystemError) {
        bell = SystemCalls.FileDescriptor(owning: try systemCall { CLinuxShims_eventfd() })
    }

    var hasRung: Bool { rung.load(ordering: .relaxed) }

    /// Ends all waits, also later ones.
    borrowing func ring() {
        guard !rung.exchange(true, ordering: .relaxed) else { return }
        var one: UInt64 = 1
        _ = Glibc.write(bell.raw, &one, MemoryLayout<UInt64>.size)
    }

    /// Waits until the socket is ready for `events`.
    ///
    /// - Parameters:
    ///   - ignoresBell: whether only the deadline ends the wait.
    ///   - nudge: ends the wait as well.
    borrowing func wait(
        for socket: CInt, _ events: CInt, until deadline: NIODeadline, ignoresBell: Bool = false, nudge: Nudge? = nil
    ) -> Event {
        while true {
            let left = max(.zero, deadline - .now()).nanoseconds
            // Rounded up, so that the last wait is not a busy one.
            let milliseconds = CInt(clamping: (left + 999_999) / 1_000_000)
            var polled = [
                pollfd(fd: socket, events: Int16(events), revents: 0),
                pollfd(fd: ignoresBell ? -1 : bell.raw, events: Int16(POLLIN), revents: 0),
                pollfd(fd: nudge?.raw ?? -1, events: Int16(POLLIN), revents: 0),
            ]
            let count = poll(&polled, 3, milliseconds)
            if polled[1].revents != 0 { return .rung }
            if polled[2].revents != 0 { return .nudged }
            if count > 0 { return .ready(CInt(polled[0].revents)) }
            if left == 0 { return .timedOut }
        }
    }
}
