import HTTPChannel
import NIOCore
import SecureTransport
import Sharing

/// The sender's side of the contents of one transfer, on the thread of its stream.
struct ContentsSending {
    let stream: SecureStream
    let writer: ContentsWriter
    let reply: ContentsReply
    /// How long the receiver may be silent, and how long it may make no progress while it shows that it is alive.
    let silence: Duration
    let maximum: Duration
    let cancellation: Cancellation
    let reading: SourceReading
    let progressed: () -> Void

    /// Sends everything, reads the answer, and closes the stream.
    ///
    /// - Throws: `CancellationError` if the sender cancelled or the stream was interrupted, `HTTPError` if the
    ///   connection broke, `TransferError` if the answer is none.
    func run() throws {
        defer { stream.close(lingering: Limits.lingering) }
        do {
            let saidCancel = try send()
            try readReply()
            if saidCancel { throw CancellationError() }
        } catch let error as SecureStreamError {
            switch error {
            case .closed: throw HTTPError.closed
            case .silent: throw HTTPError.silence
            case .interrupted: throw CancellationError()
            }
        }
    }

    /// Sends until everything has left, or the receiver has begun its answer.
    /// - Returns: whether the last frame cancels the transfer.
    private func send() throws -> Bool {
        while !reply.hasBegun {
            progressed()
            // Nothing follows the end, which says that all is here: a cancellation comes too late.
            if writer.hasEnded { return false }
            var piece = cancellation.isRequested ? nil : reading.during { writer.nextPiece() }
            // Checked again after reading, which can last (standard input). The last piece is dropped: an end of input
            // that came with the interruption would make the item complete.
            let isCancelled = cancellation.isRequested
            if isCancelled { piece = ContentsWriter.cancelPiece() }
            guard var bytes = piece.take() else { return false }
            guard try send(&bytes) else { return isCancelled }
            if isCancelled { return true }
        }
        return false
    }

    /// - Returns: false if the receiver takes no more.
    private func send(_ bytes: inout ByteBuffer) throws -> Bool {
        var timeout = PeerTimeout(silence, atMost: maximum)
        do {
            while let heard = try stream.send(&bytes, within: timeout, isListening: true) {
                timeout.heard()
                try reply.read(heard)
                if reply.hasBegun { return false }
            }
            return true
        } catch SecureStreamError.closed {
            // It may have said why before it closed the connection.
            return false
        }
    }

    private func readReply() throws {
        var timeout = PeerTimeout(silence, atMost: maximum)
        var unhurried = Self.bytesInTime
        while !reply.isComplete {
            guard let bytes = try stream.receive(within: timeout) else { throw SecureStreamError.closed }
            try reply.read(bytes)
            if !reply.hasBegun {
                timeout.heard()
                continue
            }
            unhurried += bytes.readableBytes
            guard unhurried >= Self.bytesInTime else { continue }
            timeout = PeerTimeout(silence)
            unhurried = 0
        }
    }

    /// Bytes of an answer that must come within `silence`. With a lower number the receiver could make this side wait for
    /// a day.
    private static let bytesInTime = 1 << 20
}
