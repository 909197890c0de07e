import Digests
import Groups
import NIOCore
import SecureTransport
import Sharing

/// The control connection of a member, on the thread of its stream.
struct GroupConversation {
    let membership: GroupMembership
    let reception: Reception
    let transfer: TransferID
    let stream: SecureStream

    /// Talks with the sender to the end of the membership, and closes the stream. Ends the transfer.
    func run() {
        var words = ByteBuffer()
        var reading = Reading()
        /// Why this side ends its part; nil if it is another reason than a fault of its own contents.
        var reason: TransferError?
        while true {
            switch membership.step(&words) {
            case .talk(let deadline):
                do {
                    guard let heard = try stream.turn(&words, until: deadline, nudge: membership.nudge) else {
                        continue
                    }
                    try reading.read(heard, membership.hear)
                } catch {
                    reason = self.reason(for: error)
                    if mayAnswer(error) { membership.leave() } else { membership.senderClosed() }
                }
            case .answer(let result):
                result.send(on: stream, after: words)
                words.clear()
                membership.receiptSent()
            case .end(let end):
                finish(end, reason, words)
                return
            }
        }
    }

    /// Ends the transfer without its contents.
    func giveUp(_ fault: TransferError) {
        membership.leave()
        _ = membership.contents.end(with: fault)
        stream.close(lingering: .zero)
    }

    private func finish(_ end: MemberEnd, _ reason: TransferError?, _ words: ByteBuffer) {
        membership.tell(end)
        switch end {
        case .whole:
            stream.close(lingering: Limits.lingering)
        case .left:
            membership.contents.end(with: reason ?? TransferError(ending: .fault)).send(on: stream, after: words)
            stream.close(lingering: Limits.lingering)
        case .out:
            _ = membership.contents.end(with: TransferError(.interrupted, "the sender goes on without the group"))
            stream.close(lingering: .zero)
        case .fault(let fault):
            _ = membership.contents.end(with: reason ?? Self.error(for: fault))
            stream.close(lingering: .zero)
        }
    }

    /// Whether this side says why it ends: after a word of the sender, or of this machine.
    private func mayAnswer(_ error: any Error) -> Bool {
        switch error {
        case SecureStreamError.interrupted: Task.isCancelled || reception.isCancelled(transfer)
        case is Cancelled: true
        default: false
        }
    }

    private func reason(for error: any Error) -> TransferError? {
        switch error {
        // The task is cancelled when this receiver is being stopped.
        case SecureStreamError.interrupted where Task.isCancelled: .receiverStopped
        case SecureStreamError.interrupted where reception.isCancelled(transfer): .cancelledByReceiver
        case let cancelled as Cancelled: cancelled.reason
        // The bytes that have come are kept: the sender has proved its key.
        case let fault as TransferError: TransferError(.interrupted, fault.message)
        default: nil
        }
    }

    private static func error(for fault: GroupError) -> TransferError {
        switch fault {
        case .senderGone: TransferError(ending: .fault)
        case .senderSilent: TransferError(.interrupted, "the sender fell silent", cause: .timeout)
        default: TransferError(.interrupted, fault.description)
        }
    }
}

/// The sender has ended its contents.
private struct Cancelled: Error {
    let reason: TransferError
}

/// Reads the sender's words: frames of the group, then perhaps `cancel`.
private struct Reading: ~Copyable {
    private var decoder = GroupDecoder(SenderReading())
    private var rest = FrameDecoder(digest: .lasting)

    /// - Throws: `TransferError` if the words are malformed; `Cancelled`.
    mutating func read(_ bytes: consuming ByteBuffer, _ hear: (SenderFrame) -> Void) throws {
        while let frame = try decoder.next(&bytes) { hear(frame) }
        guard decoder.isOver else { return }
        let cancelling = Cancelling()
        do throws(TransferError) {
            try rest.decode(decoder.rest(&bytes), into: cancelling)
        } catch  where cancelling.reason == nil {
            throw error
        } catch {
            // A heartbeat may have followed.
        }
        if let reason = cancelling.reason { throw Cancelled(reason: reason) }
    }

    private final class Cancelling: FrameSink {
        private(set) var reason: TransferError?

        func receive(_ frame: Frame) throws(TransferError) {
            guard case .cancel(let why) = frame else { throw GroupFrame.malformed("a frame behind those of the group") }
            reason = TransferError(cancelledBySender: why)
        }

        func receive(data: UnsafeRawBufferPointer) throws(TransferError) {
            throw GroupFrame.malformed("data behind the frames of the group")
        }
    }
}
