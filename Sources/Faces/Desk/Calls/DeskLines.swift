import Foundation
import Lines
import NIOCore

/// The lines of a call, on their way to the window. Each is sent in one piece, with its end.
actor DeskLines {
    private let send: @Sendable (ByteBuffer) async throws -> Void
    /// The beginning of a line whose end has not come.
    private var rest = ByteBuffer()

    init(_ send: @escaping @Sendable (ByteBuffer) async throws -> Void) { self.send = send }

    /// Output of a program, in any pieces.
    func add(_ bytes: [UInt8]) async throws {
        rest.writeBytes(bytes)
        while let end = rest.readableBytesView.firstIndex(of: UInt8(ascii: "\n")),
            let line = rest.readSlice(length: end - rest.readerIndex + 1)
        {
            try await send(line)
        }
        rest.discardReadBytes()
    }

    func add(_ line: any Line) async throws { try await send(ByteBuffer(string: line.json + "\n")) }

    /// A line of the desk's own.
    func add(_ line: some DeskLine) async throws { try await send(try line.bytes) }
}

/// A line of the desk's own in a stream.
protocol DeskLine: Encodable, Sendable {}

extension DeskLine {
    var bytes: ByteBuffer {
        get throws { ByteBuffer(bytes: try JSONEncoder().encode(self) + Data("\n".utf8)) }
    }
}
