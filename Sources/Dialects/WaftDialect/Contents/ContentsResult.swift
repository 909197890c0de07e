import NIOCore
import SecureTransport
import Sharing

/// The result of a transfer, and the receiver's last words on its connection (Protocol, section 3.3).
struct ContentsResult: Sendable {
    /// Nil if everything has come.
    let fault: TransferError?
    let receipt: Receipt

    /// Bytes of an answer that a sender must take before it counts as silent.
    private static let pieceBytes = 128 << 10

    init(_ fault: TransferError?, _ receipt: Receipt) { (self.fault, self.receipt) = (fault, receipt) }

    /// Sends it, if the sender is still there; it can ask for the receipt later.
    ///
    /// - Parameter words: the frames that go before it.
    func send(on stream: SecureStream, after words: ByteBuffer = ByteBuffer()) {
        do {
            var frames = words
            if let fault { frames.writeFrame(.cancel(fault)) }
            var text = try WaftDialect.writer(receipt)
            while let piece = try text.nextPiece() {
                frames.writeDataFrame(piece)
                if frames.readableBytes >= Self.pieceBytes { try Self.send(&frames, on: stream) }
            }
            frames.writeFrame(.end)
            try Self.send(&frames, on: stream)
        } catch {
            // The connection is broken.
        }
    }

    private static func send(_ frames: inout ByteBuffer, on stream: SecureStream) throws {
        _ = try stream.send(&frames, within: PeerTimeout(Limits.silence), isListening: false)
        frames.clear()
    }
}

extension Reception {
    /// Ends a transfer whose contents cannot go on.
    func fail(_ transfer: IncomingTransfer, _ fault: TransferError) -> ContentsResult {
        ContentsResult(fault, end(transfer, transfer.fail(fault), fault: fault))
    }
}

extension TransferError {
    /// The sender ended its contents. Its code and words are for programs of another version: people get the words for the cause.
    init(cancelledBySender why: TransferError) {
        self.init(ending: why.cause == .user ? .senderCancelled : why.cause)
    }
}
