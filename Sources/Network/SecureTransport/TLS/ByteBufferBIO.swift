internal import COpenSSL
internal import COpenSSLShims
internal import NIOCore

/// The two ends of a TLS connection that OpenSSL sees: it reads ciphertext out of the buffers that came from the socket,
/// and appends ciphertext to one buffer for the socket.
///
/// A pair of memory BIOs would do the same with one more copy each way and with memory of their own.
final class ByteBufferBIO {
    /// What OpenSSL reads next, and where it writes to: plain memory beside this object, because it reads twice for each record and
    /// writes once, and every access to a property would be checked while the program runs.
    private let window: UnsafeMutablePointer<Window>

    /// The memory that `window` shows a part of.
    private var windowStorage: AnyObject?

    /// Ciphertext after that, the oldest first; none of these is empty.
    private var inbound = CircularBuffer<ByteBuffer>(initialCapacity: 4)

    /// Bytes in `inbound`.
    private var queuedBytes = 0

    /// Ciphertext bytes that OpenSSL has not read yet.
    var inboundBytes: Int { window.pointee.unread.count + queuedBytes }

    /// Ciphertext for the socket. Set it to a buffer with room for what comes before OpenSSL writes.
    var outbound = ByteBuffer()

    /// `BIO *` with one reference that this object owns. Its user data is `window`, which knows this object, unretained: whoever
    /// gives the handle to OpenSSL keeps this object for as long.
    let handle: OpaquePointer

    init?() {
        guard let method = Self.method.pointer, let handle = BIO_new(method) else { return nil }
        self.handle = handle
        window = .allocate(capacity: 1)
        window.initialize(to: Window(bio: Unmanaged.passUnretained(self)))
        BIO_set_init(handle, 1)
        BIO_set_data(handle, window)
    }

    deinit {
        // OpenSSL may hold a reference still: it must not find this object through it.
        BIO_set_data(handle, nil)
        BIO_free(handle)
        window.deallocate()
    }

    func receive(_ ciphertext: ByteBuffer) {
        guard ciphertext.readableBytes > 0 else { return }
        queuedBytes += ciphertext.readableBytes
        inbound.append(ciphertext)
        if window.pointee.unread.isEmpty { showNext() }
    }

    /// The byte at `offset` of what OpenSSL has not read yet.
    func inboundByte(at offset: Int) -> UInt8? {
        let unread = window.pointee.unread
        if offset < unread.count { return unread[offset] }
        var offset = offset - unread.count
        for buffer in inbound {
            if offset < buffer.readableBytes { return buffer.getInteger(at: buffer.readerIndex + offset) }
            offset -= buffer.readableBytes
        }
        return nil
    }

    func discardInbound() {
        inbound.removeAll()
        queuedBytes = 0
        showNext()
    }

    /// Has OpenSSL read the next buffer. The one before is given up at once, so that the channel can read into the same memory
    /// again.
    fileprivate func showNext() {
        windowStorage = nil
        window.pointee.unread = UnsafeRawBufferPointer(start: nil, count: 0)
        guard let next = inbound.popFirst() else { return }
        queuedBytes -= next.readableBytes
        next.withUnsafeReadableBytesWithStorageManagement { bytes, storage in
            windowStorage = storage.takeUnretainedValue()
            window.pointee.unread = bytes
        }
    }

    /// Runs `body`, in which OpenSSL writes about `bound` bytes, at the end of `outbound`.
    func collecting(_ bound: Int, _ body: () -> Void) {
        // Moved out, so that what is more than the bound has a place until then.
        var collected = outbound
        outbound = ByteBuffer()
        collected.writeWithUnsafeMutableBytes(minimumWritableBytes: bound) { room in
            window.pointee.room = room
            body()
            defer { window.pointee.room = UnsafeMutableRawBufferPointer(start: nil, count: 0) }
            return window.pointee.written
        }
        if outbound.readableBytes > 0 { collected.writeImmutableBuffer(outbound) }
        outbound = collected
    }

    // MARK: What OpenSSL calls

    fileprivate func write(_ source: UnsafeRawBufferPointer) {
        outbound.writeBytes(source)
    }

    /// The `BIO_METHOD *` of all of these, made once and never freed.
    private static let method = Method()

    /// Sendable: OpenSSL only reads it once it is made.
    private struct Method: @unchecked Sendable {
        let pointer: OpaquePointer?

        init() {
            pointer = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "waft")
            guard let pointer else { return }
            BIO_meth_set_read_ex(pointer, readCallback)
            BIO_meth_set_write_ex(pointer, writeCallback)
            BIO_meth_set_ctrl(pointer, controlCallback)
        }
    }
}

/// What the BIO's user data points to.
private struct Window {
    /// What OpenSSL has not read yet of the buffer that it is reading; empty only when there is nothing at all.
    var unread = UnsafeRawBufferPointer(start: nil, count: 0)
    /// Where it writes to; empty where that is left to `bio`.
    var room = UnsafeMutableRawBufferPointer(start: nil, count: 0) {
        didSet { (written, isFull) = (0, room.isEmpty) }
    }
    /// Bytes written to `room`.
    private(set) var written = 0
    /// Whether something has not fitted: what comes after it belongs behind it.
    private var isFull = true
    let bio: Unmanaged<ByteBufferBIO>

    init(bio: Unmanaged<ByteBufferBIO>) { self.bio = bio }

    /// - Returns: bytes copied to `destination`: less than it takes at the end of a buffer, after which OpenSSL asks again; 0 if
    ///   there are none now.
    mutating func read(into destination: UnsafeMutableRawPointer, atMost room: Int) -> Int {
        let count = min(unread.count, room)
        guard count > 0, let source = unread.baseAddress else { return 0 }
        destination.copyMemory(from: source, byteCount: count)
        unread = UnsafeRawBufferPointer(start: source + count, count: unread.count - count)
        return count
    }

    /// - Returns: whether it was written to `room`.
    mutating func write(_ source: UnsafePointer<CChar>, count: Int) -> Bool {
        guard !isFull, count <= room.count - written, let room = room.baseAddress else {
            isFull = true
            return false
        }
        (room + written).copyMemory(from: source, byteCount: count)
        written += count
        return true
    }
}

// MARK: - C callbacks: they unwrap the user data and forward

// These run several times for each record, so the object is borrowed and not retained: the engine holds it while it calls
// OpenSSL.

/// - Returns: nil where the `ByteBufferBIO` is gone.
private func window(of bio: OpaquePointer?) -> UnsafeMutablePointer<Window>? {
    BIO_get_data(bio)?.assumingMemoryBound(to: Window.self)
}

private func readCallback(
    bio: OpaquePointer?,
    destination: UnsafeMutablePointer<CChar>?,
    count: Int,
    copied: UnsafeMutablePointer<Int>?
) -> Int32 {
    COpenSSLShims_BIO_clear_retry_flags(bio)
    guard let window = window(of: bio), let destination else { return 0 }
    let read = window.pointee.read(into: destination, atMost: count)
    copied?.pointee = read
    guard read > 0 else {
        COpenSSLShims_BIO_set_retry_read(bio)
        return 0
    }
    if window.pointee.unread.isEmpty { window.pointee.bio._withUnsafeGuaranteedRef { $0.showNext() } }
    return 1
}

private func writeCallback(
    bio: OpaquePointer?,
    source: UnsafePointer<CChar>?,
    count: Int,
    written: UnsafeMutablePointer<Int>?
) -> Int32 {
    COpenSSLShims_BIO_clear_retry_flags(bio)
    guard let window = window(of: bio), let source else { return 0 }
    if !window.pointee.write(source, count: count) {
        window.pointee.bio._withUnsafeGuaranteedRef {
            $0.write(UnsafeRawBufferPointer(start: source, count: count))
        }
    }
    written?.pointee = count
    return 1
}

private func controlCallback(
    bio: OpaquePointer?,
    command: Int32,
    number: Int,
    pointer: UnsafeMutableRawPointer?
) -> Int {
    // Flushing has nothing to do. 0 means no, or that OpenSSL need not ask.
    command == BIO_CTRL_FLUSH ? 1 : 0
}
