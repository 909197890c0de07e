/// Every limit of this module in one place. All of them are checked before memory is taken or work is done.
package struct TransportLimits: Sendable {
    /// How long a connection may take from TCP's to TLS's handshake being done.
    package var handshakeDeadline: Duration = .seconds(10)
    /// How long a closing connection waits for what was flushed to leave, counted anew whenever some of it has.
    package var drainDeadline: Duration = .seconds(10)
    /// How long it then waits for the peer's close_notify.
    package var closeDeadline: Duration = .seconds(1)

    /// Largest certificate message of a peer, in bytes. A P-256 certificate is about 500.
    package var certificateBytes = 16 * 1024
    /// Most certificates in a peer's chain. An identity is one self-signed certificate.
    package var chainLength = 1

    /// Plaintext bytes that go into one batch of records before they are handed to the socket: thirty full records,
    /// whose ciphertext fits a buffer of `bufferBytes`.
    static let batchBytes = 30 * recordBytes
    /// The same where a thread that produces the plaintext encrypts and sends it (`OutboundLoan`): what it produces, what it
    /// encrypts and what it sends stay in its core's cache together.
    static let loanBatchBytes = 15 * recordBytes
    /// Bytes that are read at once where the thread that wants the plaintext decrypts it (`InboundLoan`), for the same reason, and
    /// how many where there are several, all together, down to `crowdedBufferBytes`; each has as many of plaintext.
    static let loanReadBytes = 256 * 1024
    static let loanReadBytesOfAll = 2 * 1024 * 1024
    /// Milliseconds that such a thread waits for a peer that sends nothing before it leaves that to the event loop.
    static let loanPatience: CInt = 100
    /// Plaintext bytes in a full record (RFC 8446, section 5.1).
    static let recordBytes = 16 * 1024
    /// Capacity of the buffers that ciphertext and plaintext are written to.
    static let bufferBytes = 512 * 1024
    /// Sizes of buffers that one event loop keeps for use again while it has connections, and how many of each. What is
    /// smaller than half the smallest comes from the heap, which is as fast for it.
    static let pooledBuffers = [
        (bytes: 128 * 1024, count: 18), (bytes: 256 * 1024, count: 12), (bytes: bufferBytes, count: 8),
    ]
    /// Connections of one listener that read with full buffers, and how long one counts that has read nothing large; all others
    /// read `crowdedBufferBytes` at once: each takes such buffers several times over. See `FullReaders`.
    static let fullReaders = 2
    static let fullReaderLapse: Duration = .seconds(10)
    static let crowdedBufferBytes = recordBytes
    /// Ciphertext bytes waiting for the socket below which a connection is writable again, and above which it is not.
    static let writeWatermarks = (low: 256 * 1024, high: 1024 * 1024)
    /// Bytes in the kernel that wait for the peer's window or the path's, from which on it takes no more (TCP_NOTSENT_LOWAT); it
    /// takes more when they are half as many. What is on its way does not count. Room for a batch: it is taken with one call.
    static let unsentBytes = 512 * 1024

    /// Ciphertext bytes that are thrown away, at most, while a server waits for a client that it refused to close.
    static let lingerBytes = 256 * 1024
    /// Bytes that TLS itself may answer on an open connection: new keys, which an honest peer asks for once in 2^24 records.
    static let answerBytes = 64 * 1024

    /// Most connections of one listener whose handshake has not finished. The oldest makes room for a new one.
    package var unfinishedConnections = 256
    /// The same for one address (an IPv4 address, or an IPv6 /64).
    package var unfinishedConnectionsPerAddress = 64
    /// Most connections of one listener whose handshake has finished. Beyond this or one of the next limits a new one
    /// displaces the stranger that has been idle longest, or is closed: see `Admission`.
    package var connections = 512
    /// Most connections of all strangers together. The rest is reserved for contacts.
    package var connectionsOfStrangers = 384
    /// The same for the strangers of one address (an IPv4 address, or an IPv6 /64). Contacts are not counted here.
    package var connectionsPerAddress = 128
    /// The same for one peer's key, also for a contact's.
    package var connectionsPerPeer = 32
    /// How long a stranger's connection must have been idle before another stranger's displaces it. A contact's
    /// connection displaces it at once.
    package var displaceableAfter: Duration = .seconds(5)
    /// Unfinished connections that make room at a time when this process has no descriptors left.
    static let evictionsPerExhaustion = 16
    /// Connections that the kernel keeps for the listener until they are accepted.
    package var backlog = 1024

    /// How long a dial may take in all: resolving, connecting and handshakes.
    package var dialDeadline: Duration = .seconds(15)
    /// How long an attempt has before the next one starts beside it (RFC 8305, section 5).
    package var headStart: Duration = .milliseconds(250)
    /// Most addresses that one dial tries.
    package var addressesPerDial = 32

    /// The defaults.
    package init() {}
}
