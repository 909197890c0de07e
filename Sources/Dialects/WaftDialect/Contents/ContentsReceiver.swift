import NIOCore
import SecureTransport
import Sharing

/// Moves the frames of a stream into an incoming transfer.
final class ContentsReceiver: FrameSink {
    private let transfer: IncomingTransfer
    private var decoder: FrameDecoder
    private var hasEnded = false

    init(_ transfer: IncomingTransfer) {
        self.transfer = transfer
        self.decoder = FrameDecoder(digest: transfer.digestAlgorithm)
    }

    /// Reads the contents to their last frame.
    /// - Throws: `TransferError` for an error of the sender or the disk; `SecureStreamError` for one of the connection.
    func receiveAll(from stream: SecureStream) throws {
        while !hasEnded {
            guard let bytes = try stream.receive(within: PeerTimeout(Limits.silence)) else {
                throw TransferError(ending: .fault)
            }
            try decoder.decode(bytes, into: self)
        }
        guard decoder.isBetweenFrames else { throw FrameDecoder.malformed("half a frame after the end") }
    }

    func receive(_ frame: Frame) throws(TransferError) {
        guard !hasEnded else { throw FrameDecoder.malformed("a frame after the end") }
        switch frame {
        case .item(let number): try transfer.beginItem(number)
        case .file(let entry): try transfer.beginFile(entry)
        case .folder(let path): try transfer.folder(path)
        case .link(let path, let target): try transfer.link(path, target: target)
        case .folderClosed(let path, let modified): try transfer.folderClosed(path, modified: modified)
        case .fileEnd(let digest): try transfer.endFile(digest: digest)
        case .itemEnd(let digest): try transfer.endItem(digest: digest)
        case .itemAbandoned(let number, let fault): try transfer.abandonItem(number, fault)
        case .present(let number, let digest): try transfer.present(number, digest: digest)
        case .end: hasEnded = true
        // Its code and words are for programs of another version: people get the words for the cause.
        case .cancel(let why): throw TransferError(ending: why.cause == .user ? .senderCancelled : why.cause)
        }
    }

    func receive(data: UnsafeRawBufferPointer) throws(TransferError) {
        guard !hasEnded else { throw FrameDecoder.malformed("data after the end") }
        try transfer.write(data)
    }
}
