import Foundation
import Lines
import NIOCore

/// The lines of a call, on their way to the window.
actor DeskLines {
    /// Bytes that are sent in one piece, about.
    private static let pieceBytes = 64 << 10

    private let send: @Sendable (ByteBuffer) async throws -> Void
    /// The name of the call, before each of its lines in the stream of a window; nil for the answer to the call itself.
    private let call: String?
    /// The beginning of a line whose end has not come.
    private var rest = ByteBuffer()

    init(of call: String? = nil, _ send: @escaping @Sendable (ByteBuffer) async throws -> Void) {
        (self.call, self.send) = (call, send)
    }

    /// The same way, for the output of another program.
    nonisolated func beside() -> DeskLines { DeskLines(of: call, send) }

    /// Output of a program, in any pieces.
    func add(_ bytes: [UInt8]) async throws {
        rest.writeBytes(bytes)
        var piece = ByteBuffer()
        while let end = rest.readableBytesView.firstIndex(of: UInt8(ascii: "\n")),
            let line = rest.readSlice(length: end - rest.readerIndex)
        {
            rest.moveReaderIndex(forwardBy: 1)
            append(line, to: &piece)
        }
        rest.discardReadBytes()
        if piece.readableBytes > 0 { try await send(piece) }
    }

    func add(_ line: any Line) async throws { try await add([line]) }

    func add(_ lines: [any Line]) async throws {
        var piece = ByteBuffer()
        for line in lines {
            append(ByteBuffer(string: line.json), to: &piece)
            guard piece.readableBytes >= Self.pieceBytes else { continue }
            try await send(piece)
            piece.clear()
        }
        if piece.readableBytes > 0 { try await send(piece) }
    }

    /// A line of the desk's own.
    func add(_ line: some DeskLine) async throws {
        var piece = ByteBuffer()
        append(ByteBuffer(bytes: try line.document), to: &piece)
        try await send(piece)
    }

    private func append(_ line: ByteBuffer, to piece: inout ByteBuffer) {
        if let call { piece.writeString("{\"call\":\"\(call)\",\"line\":") }
        piece.writeImmutableBuffer(line)
        piece.writeString(call == nil ? "\n" : "}\n")
    }
}

/// A line of the desk's own in a stream.
protocol DeskLine: Encodable, Sendable {}

extension DeskLine {
    fileprivate var document: Data { get throws { try JSONEncoder().encode(self) } }

    var bytes: ByteBuffer { get throws { ByteBuffer(bytes: try document + Data("\n".utf8)) } }
}
