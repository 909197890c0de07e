internal import COpenSSL
internal import COpenSSLShims
internal import NIOCore

/// The two ends of a TLS connection that OpenSSL sees: it reads ciphertext from the socket's buffers, and appends
/// ciphertext to one buffer for the socket.
///
/// A pair of memory BIOs needs one more copy each way and memory of its own.
final class ByteBufferBIO {
    /// The memory that OpenSSL reads next, and the memory it writes to. Plain memory beside this object: OpenSSL reads
    /// twice and writes once for each record, and each access to a property has a check at run time.
    private let window: UnsafeMutablePointer<Window>

    /// The owner of the memory behind `window.unread`.
    private var windowStorage: AnyObject?

    /// The ciphertext after `window.unread`, the oldest first; no buffer is empty.
    private var inbound = CircularBuffer<ByteBuffer>(initialCapacity: 4)

    /// Bytes in `inbound`.
    private var queuedBytes = 0

    /// Ciphertext bytes that OpenSSL has not read yet.
    var inboundBytes: Int { window.pointee.unread.count + queuedBytes }

    /// Ciphertext for the socket. Set it to a buffer with enough room before OpenSSL writes.
    var outbound = ByteBuffer()

    /// `BIO *` with one reference that this object owns. Its user data is `window`, which refers to this object,
    /// unretained: code that gives the handle to OpenSSL keeps this object for as long.
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
        // OpenSSL may still hold a reference, and must not reach this object through it.
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

    /// The byte at `offset` of the ciphertext that OpenSSL has not read yet.
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

    /// Gives OpenSSL the next buffer. The buffer before is released at once, so that the channel can read into the same
    /// memory again.
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
        // Moved out, so that `outbound` can take the bytes beyond the bound.
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

    // MARK: Called by OpenSSL

    fileprivate func write(_ source: UnsafeRawBufferPointer) {
        outbound.writeBytes(source)
    }

    /// The `BIO_METHOD *` of all objects, made once and never freed.
    private static let method = Method()

    /// Sendable: after the initializer OpenSSL only reads it.
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

/// The user data of the BIO.
private struct Window {
    /// The part of the current buffer that OpenSSL has not read yet; empty only when there is no ciphertext at all.
    var unread = UnsafeRawBufferPointer(start: nil, count: 0)
    /// The memory that OpenSSL writes to; empty if `bio` takes the bytes.
    var room = UnsafeMutableRawBufferPointer(start: nil, count: 0) {
        didSet { (written, isFull) = (0, room.isEmpty) }
    }
    /// Bytes written to `room`.
    private(set) var written = 0
    /// Whether a write has not fitted: later writes must follow it in order.
    private var isFull = true
    let bio: Unmanaged<ByteBufferBIO>

    init(bio: Unmanaged<ByteBufferBIO>) { self.bio = bio }

    /// - Returns: bytes copied to `destination`. At the end of a buffer they are fewer than fit, and OpenSSL asks
    ///   again; 0 if there are none now.
    mutating func read(into destination: UnsafeMutableRawPointer, atMost room: Int) -> Int {
        let count = min(unread.count, room)
        guard count > 0, let source = unread.baseAddress else { return 0 }
        destination.copyMemory(from: source, byteCount: count)
        unread = UnsafeRawBufferPointer(start: source + count, count: unread.count - count)
        return count
    }

    /// - Returns: whether the bytes were written to `room`.
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

// The callbacks run several times for each record. They borrow the object without retaining it: the engine holds it
// while it calls OpenSSL.

/// - Returns: nil if the `ByteBufferBIO` is gone.
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
    // A flush needs no work. 0 means no, or that OpenSSL need not ask.
    command == BIO_CTRL_FLUSH ? 1 : 0
}
