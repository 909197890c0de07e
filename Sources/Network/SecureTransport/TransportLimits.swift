/// All limits of this module. They are checked before memory is taken or work is done.
package struct TransportLimits: Sendable {
    /// Time limit of a connection's TLS handshake, counted from the end of TCP's handshake.
    package var handshakeDeadline: Duration = .seconds(10)
    /// How long a closing connection waits for flushed data to be sent; restarts with each progress.
    package var drainDeadline: Duration = .seconds(10)
    /// How long it then waits for the peer's close_notify.
    package var closeDeadline: Duration = .seconds(1)
    /// The most of it that a connection has which is closed in a hurry.
    static let hurriedCloseDeadline: Duration = .seconds(1)

    /// Maximum size of a peer's certificate message, in bytes. A P-256 certificate has about 500.
    package var certificateBytes = 16 * 1024
    /// Maximum number of certificates in a peer's chain. An identity is one self-signed certificate.
    package var chainLength = 1

    /// Plaintext bytes in one batch of records for the socket: thirty full records.
    static let batchBytes = 30 * recordBytes
    /// The same on a `SecureStream`: its plaintext, its ciphertext and the bytes being sent stay in its core's cache
    /// together.
    static let streamBatchBytes = 15 * recordBytes
    /// Bytes per read of a `SecureStream` that receives, for the same reason; and the bytes of all of them together, down
    /// to `minimumStreamReadBytes` each. Each has as many bytes of plaintext.
    static let streamReadBytes = 256 * 1024
    static let streamReadBytesOfAll = 2 * 1024 * 1024
    static let minimumStreamReadBytes = recordBytes
    /// Bytes that a `SecureStream` drops while it waits for its peer to end.
    static let streamSkippedBytes = 64 * 1024
    /// Plaintext bytes in a full record (RFC 8446, section 5.1).
    static let recordBytes = 16 * 1024
    /// Maximum bytes per read of a channel.
    static let channelReadBytes = recordBytes
    /// The same of a channel that receives contents which were accepted.
    static let bulkReadBytes = 128 * 1024
    /// Maximum bytes of plaintext that a channel passes on at once. The heap does not keep buffers of a megabyte.
    static let plaintextBytes = 256 * 1024
    /// Ciphertext bytes waiting for the socket below which a connection is writable again, and above which it is not.
    static let writeWatermarks = (low: 256 * 1024, high: 1024 * 1024)
    /// Bytes waiting for the peer's window or the path's, at which the kernel takes no more (TCP_NOTSENT_LOWAT); at
    /// half as many it takes more. Bytes in flight do not count. One call takes a whole batch.
    static let unsentBytes = 512 * 1024

    /// Maximum of ciphertext bytes dropped while a server waits for a refused client to close.
    static let lingerBytes = 256 * 1024
    /// Bytes of TLS's own answers on an open connection: new keys, which an honest peer requests once in 2^24 records.
    static let answerBytes = 64 * 1024

    /// Maximum number of a listener's connections with an unfinished handshake. The oldest makes room for a new one.
    package var unfinishedConnections = 256
    /// The same for one address (an IPv4 address, or an IPv6 /64).
    package var unfinishedConnectionsPerAddress = 64
    /// Maximum number of a listener's connections with a finished handshake. Beyond this or one of the next limits a
    /// new one displaces the stranger that has been idle longest, or is closed: see `Admission`.
    package var connections = 512
    /// Maximum number of connections of all strangers together. The rest is reserved for contacts.
    package var connectionsOfStrangers = 384
    /// The same for the strangers of one address (an IPv4 address, or an IPv6 /64). Contacts are not counted here.
    package var connectionsPerAddress = 128
    /// The same for one peer's key, also for a contact's.
    package var connectionsPerPeer = 32
    /// How long a stranger's connection must be idle before another stranger's displaces it. A contact's connection
    /// displaces it at once.
    package var displaceableAfter: Duration = .seconds(5)
    /// Whether strangers enter, as `ConnectionSlot.enter` says. Before it their connections make room at once, idle ones
    /// first; after it they make no room, and have the places that others reserve for contacts.
    package var strangersEnter = false
    /// Maximum number of connections of one address that have entered.
    package var enteredPerAddress = 32
    /// Unfinished connections that make room at a time when this process has no descriptors left.
    static let evictionsPerExhaustion = 16
    /// Connections that the kernel keeps for the listener until they are accepted.
    package var backlog = 1024

    /// Time limit of a dial: resolving, connecting and handshakes.
    package var dialDeadline: Duration = .seconds(15)
    /// How long an attempt runs before the next one starts beside it (RFC 8305, section 5).
    package var headStart: Duration = .milliseconds(250)
    /// Maximum number of addresses that one dial tries.
    package var addressesPerDial = 32

    /// The defaults.
    package init() {}

    /// For a listener whose visitors prove no key, but show a secret in their requests.
    /// - Parameter connectionsPerAddress: those before the entry. A browser opens up to six, and some in advance.
    package static func forEntering(connectionsPerAddress: Int) -> TransportLimits {
        var limits = TransportLimits()
        limits.strangersEnter = true
        limits.connectionsPerAddress = connectionsPerAddress
        return limits
    }
}
