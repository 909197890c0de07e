import NIOCore
import SecureTransport
import Sharing

/// The receiver's side of the contents of one transfer, on the thread of its stream.
struct ContentsSession {
    let reception: Reception
    let transfer: IncomingTransfer
    let stream: SecureStream

    /// Receives everything, answers, and closes the stream.
    func run() {
        do {
            try ContentsReceiver(transfer).receiveAll(from: stream)
            ContentsResult(nil, reception.end(transfer, try transfer.finish(), fault: nil)).send(on: stream)
        } catch let fault as TransferError {
            reception.fail(transfer, fault).send(on: stream)
        } catch {
            let fault = fault(for: error)
            let result = reception.fail(transfer, fault)
            if fault == .receiverStopped { result.send(on: stream) }
        }
        stream.close(lingering: Limits.lingering)
    }

    /// Ends the transfer without its contents.
    func giveUp(_ fault: TransferError) {
        _ = reception.fail(transfer, fault)
        stream.close(lingering: .zero)
    }

    private func fault(for error: any Error) -> TransferError {
        switch error as? SecureStreamError {
        // The task is cancelled when this receiver is being stopped.
        case .interrupted where Task.isCancelled: .receiverStopped
        case .silent: TransferError(.interrupted, "the sender fell silent", cause: .timeout)
        default: TransferError(ending: .fault)
        }
    }
}

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
            try take(bytes)
        }
        try finish()
    }

    /// Takes the next bytes of the stream. May block on the disk.
    func take(_ bytes: consuming ByteBuffer) throws(TransferError) {
        try decoder.decode(bytes, into: self)
    }

    /// The stream has no more bytes.
    /// - Throws: `protocolViolation` unless they end with the last frame.
    func finish() throws(TransferError) {
        guard hasEnded, decoder.isBetweenFrames else { throw FrameDecoder.malformed("half a frame at the end") }
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
        case .cancel(let why): throw TransferError(cancelledBySender: why)
        }
    }

    func receive(data: UnsafeRawBufferPointer) throws(TransferError) {
        guard !hasEnded else { throw FrameDecoder.malformed("data after the end") }
        try transfer.write(data)
    }
}
