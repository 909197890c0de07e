package import NIOCore
package import Sharing

/// A connection whose handshake is done: the peer holds the key of `peerID`, if that is the id of a key.
///
/// - Parameter Output: the result of the caller's pipeline configurator, such as a `NIOAsyncChannel`.
package struct SecureConnection<Output: Sendable>: Sendable {
    /// The channel, with the TLS handler at the bottom of its pipeline.
    package let channel: any Channel

    /// The result of the caller's pipeline configurator.
    package let output: Output

    /// The peer's identity.
    package let peerID: PeerID

    /// The certificate whose key the peer has proved to hold; nil if it has proved none.
    package let certificateFingerprint: CertificateFingerprint?

    /// The protocol that both sides agreed on by ALPN (RFC 7301); nil for none.
    package let applicationProtocol: String?

    /// The peer's address: for logs and for the user, never to decide its identity (security rule 1).
    package let remoteAddress: SocketAddress?

    /// The connection's place in its listener; nil if this side dialled.
    package var place: ConnectionSlot?

    /// Derives a secret that only the two ends of this very connection know (RFC 5705, RFC 8446 section 7.5).
    ///
    /// - Parameters:
    ///   - label: the purpose of the secret.
    ///   - context: further data that the secret is bound to.
    ///   - length: 1 to `TLSEngine.exportBytes`.
    /// - Throws: `TLSError`, or `ChannelError` when the connection is gone.
    package func exportKeyingMaterial(label: String, context: [UInt8], length: Int) async throws -> [UInt8] {
        let channel = channel
        return try await channel.eventLoop.submit {
            try channel.pipeline.syncOperations.handler(type: TLSHandler.self)
                .exportKeyingMaterial(label: label, context: context, length: length)
        }.get()
    }

    /// Ends the connection in order: sends the flushed data, then both sides exchange close_notify, within
    /// `TransportLimits.drainDeadline` and `closeDeadline`. Does nothing if it is closed already.
    package func close() async {
        try? await channel.close().get()
    }
}

/// A connection's entry in the count of its listener.
package struct ConnectionSlot: Sendable {
    package let address: AddressKey
    /// Whether the peer was a contact when it connected.
    package let isContact: Bool
    private let note: @Sendable (Bool) -> Void
    private let noteEntry: @Sendable () -> Void

    init(
        address: AddressKey, isContact: Bool, note: @escaping @Sendable (Bool) -> Void,
        noteEntry: @escaping @Sendable () -> Void
    ) {
        (self.address, self.isContact) = (address, isContact)
        (self.note, self.noteEntry) = (note, noteEntry)
    }

    /// Reports to the listener whether the connection is idle. An idle one may be closed in favour of another.
    package func isIdle(_ isIdle: Bool) { note(isIdle) }

    /// Reports to the listener that the visitor has shown a secret: the connection makes no room for others any more.
    package func enter() { noteEntry() }
}

extension Channel {
    /// Runs `body`. If its task is cancelled meanwhile, closing the channel takes at most
    /// `TransportLimits.closeDeadline` in all: a peer that takes nothing gets no more time.
    ///
    /// On channels that a `SecureListener` or `SecureDialer` made.
    /// - Throws: the error of `body`.
    package func hurriedWhenCancelled<Result: Sendable>(_ body: () async throws -> Result) async rethrows -> Result {
        try await withTaskCancellationHandler(operation: body) {
            triggerUserOutboundEvent(TLSHurry(), promise: nil)
        }
    }

    /// Closes the channel, within `TransportLimits.closeDeadline` in all.
    package func closeInHurry() {
        triggerUserOutboundEvent(TLSHurry(), promise: nil)
        close(promise: nil)
    }

    /// The TLS handler of this channel.
    ///
    /// On the channel's event loop only, and only on channels that a `SecureListener` or `SecureDialer` made.
    ///
    /// - Throws: `ChannelPipelineError` if the channel is closed.
    package func tlsHandler() throws -> TLSHandler {
        try pipeline.syncOperations.handler(type: TLSHandler.self)
    }
}
