import Foundation
import NIOConcurrencyHelpers
import NIOCore

/// One message a line.
enum ControlCoding {
    static func line(_ message: some Codable) throws -> ByteBuffer {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var line = ByteBuffer(bytes: try encoder.encode(Versioned(message: message)))
        line.writeStaticString("\n")
        return line
    }

    /// - Returns: nil for anything that is not such a message.
    static func message<Message: Codable>(_ type: Message.Type, in line: ByteBuffer) -> Message? {
        try? JSONDecoder().decode(Versioned<Message>.self, from: Data(line.readableBytesView)).message
    }
}

/// Cuts the stream at newlines.
struct LineDecoder: NIOSingleStepByteToMessageDecoder {
    typealias InboundOut = ByteBuffer

    /// - Parameter limit: bytes of a line; one with more ends the connection.
    static func wrap(_ channel: any Channel, limit: Int) throws -> NIOAsyncChannel<ByteBuffer, ByteBuffer> {
        try channel.pipeline.syncOperations.addHandlers(
            ByteToMessageHandler(LineDecoder(), maximumBufferSize: limit), NIOCloseOnErrorHandler())
        let wrapped = try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
        wrapped.keepUntilClosed()
        return wrapped
    }

    mutating func decode(buffer: inout ByteBuffer) throws -> ByteBuffer? {
        guard let length = buffer.readableBytesView.firstIndex(of: UInt8(ascii: "\n")).map({ $0 - buffer.readerIndex }),
            let line = buffer.readSlice(length: length)
        else { return nil }
        buffer.moveReaderIndex(forwardBy: 1)
        return line
    }

    mutating func decodeLast(buffer: inout ByteBuffer, seenEOF: Bool) throws -> ByteBuffer? {
        try decode(buffer: &buffer)
    }
}

/// A number of places, each taken by one at a time.
final class Places: Sendable {
    private let free: NIOLockedValueBox<Int>

    init(_ count: Int) {
        free = NIOLockedValueBox(count)
    }

    /// - Returns: whether there was one.
    func take() -> Bool {
        free.withLockedValue { free in
            guard free > 0 else { return false }
            free -= 1
            return true
        }
    }

    func giveBack() {
        free.withLockedValue { $0 += 1 }
    }
}

extension NIOAsyncChannel {
    /// Keeps it until its channel is closed: one that goes before ends the process, by a precondition of SwiftNIO. That
    /// is a connection that is one too many, or one that had been accepted and not fetched when the server stopped.
    func keepUntilClosed() {
        channel.closeFuture.whenComplete { _ in withExtendedLifetime(self) {} }
    }
}
