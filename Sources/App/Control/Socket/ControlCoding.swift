import Foundation
import Glibc
import Lines
import NIOConcurrencyHelpers
import NIOCore

/// One message a line.
enum ControlCoding {
    static func line(_ message: some Codable) throws -> ByteBuffer {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var data = try UnsaidProperties.$areCarried.withValue(true) {
            try encoder.encode(Versioned(message: message))
        }
        var line = ByteBuffer(bytes: data)
        // It may hold a secret.
        data.wipe()
        line.writeStaticString("\n")
        return line
    }

    /// The meaning of a line.
    enum Reading<Message> {
        case message(Message)
        /// It is of this version, and says something else: something newer, or something broken.
        case unknown
        case otherVersion(Int)
        case nonsense
    }

    static func read<Message: Codable>(_ type: Message.Type, in line: ByteBuffer) -> Reading<Message> {
        var data = Data(line.readableBytesView)
        defer { data.wipe() }
        guard let version = try? JSONDecoder().decode(Version.self, from: data).v else { return .nonsense }
        guard version == Version.own else { return .otherVersion(version) }
        guard let message = try? JSONDecoder().decode(Versioned<Message>.self, from: data).message else {
            return .unknown
        }
        return .message(message)
    }

    /// The version alone, which is the same in all versions.
    private struct Version: Codable {
        static let own = 2
        var v: Int
    }

    /// The frame around a message.
    private struct Versioned<Message: Codable>: Codable {
        var v = Version.own
        var message: Message
    }
}

extension Data {
    /// Overwrites the bytes, of which no other copy may be in use.
    fileprivate mutating func wipe() {
        resetBytes(in: startIndex..<endIndex)
    }
}

extension ByteBuffer {
    /// Overwrites the bytes, also where the buffer is a part of a larger one, whose other parts stay.
    func wipe() {
        withUnsafeReadableBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            explicit_bzero(UnsafeMutableRawPointer(mutating: start), bytes.count)
        }
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

extension NIOAsyncChannel {
    /// Keeps it until its channel is closed: one that goes before ends the process, by a precondition of SwiftNIO. That
    /// is a connection that is one too many, or one that had been accepted and not fetched when the server stopped.
    func keepUntilClosed() {
        channel.closeFuture.whenComplete { _ in withExtendedLifetime(self) {} }
    }
}
