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
