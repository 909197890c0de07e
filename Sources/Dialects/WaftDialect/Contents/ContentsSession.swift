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
            answer(nil, reception.end(transfer, try transfer.finish(), fault: nil))
        } catch let fault as TransferError {
            answer(fault, end(with: fault))
        } catch {
            let fault = fault(for: error)
            let receipt = end(with: fault)
            if fault == .receiverStopped { answer(fault, receipt) }
        }
        stream.close(lingering: Limits.lingering)
    }

    /// Ends the transfer without its contents.
    func giveUp(_ fault: TransferError) {
        _ = end(with: fault)
        stream.close(lingering: .zero)
    }

    private func end(with fault: TransferError) -> Receipt {
        reception.end(transfer, transfer.fail(fault), fault: fault)
    }

    private func fault(for error: any Error) -> TransferError {
        switch error as? SecureStreamError {
        // The task is cancelled when this receiver is being stopped.
        case .interrupted where Task.isCancelled: .receiverStopped
        case .silent: TransferError(.interrupted, "the sender fell silent", cause: .timeout)
        default: TransferError(ending: .fault)
        }
    }

    /// Sends the result of the transfer, if the sender is still there.
    private func answer(_ fault: TransferError?, _ receipt: Receipt) {
        do {
            var frames = ByteBuffer()
            if let fault { frames.writeFrame(.cancel(fault)) }
            var text = try WaftDialect.writer(receipt)
            while let piece = try text.nextPiece() {
                frames.writeDataFrame(piece)
                if frames.readableBytes >= Self.pieceBytes { try send(&frames) }
            }
            frames.writeFrame(.end)
            try send(&frames)
        } catch {
            // The sender can ask for the receipt later.
        }
    }

    private func send(_ frames: inout ByteBuffer) throws {
        _ = try stream.send(&frames, within: PeerTimeout(Limits.silence), isListening: false)
        frames.clear()
    }

    /// Bytes of an answer that a sender must take before it counts as silent.
    private static let pieceBytes = 128 << 10
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
