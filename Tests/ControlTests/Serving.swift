import Foundation
import Lines
import Logging
import NIOCore
import NIOPosix
import Sharing
import TestSupport
import Testing

@testable import Control

let group = MultiThreadedEventLoopGroup.singleton
let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

let status = StatusLine(
    name: "kitchen", id: "k7qf", port: 9_238, inbox: "/in", accept: "ask", discovery: "off", free: 7,
    waitingOffers: 1, activeTransfers: 2, processID: 3, hook: nil)

/// Runs a control server in a folder while `body` runs. The server answers with `answer`.
func withServer<Result: Sendable>(
    events: EventFeed = EventFeed(),
    answer: @escaping @Sendable (ControlRequest) async -> ControlReply = { _ in .status(status) },
    _ body: @Sendable (ControlSocket, TemporaryFolder) async throws -> Result
) async throws -> Result {
    let folder = TemporaryFolder()
    let socket = try ControlSocket(folder: folder.path)
    let server = try await ControlServer.bind(socket, on: group, logger: logger)
    return try await withThrowingTaskGroup(of: Void.self) { tasks in
        tasks.addTask { await server.run(events: events, answer: answer) }
        defer { tasks.cancelAll() }
        return try await body(socket, folder)
    }
}

/// The first line of a command.
func proof(at socket: ControlSocket) throws -> String { String(buffer: try ControlSecret.line(for: socket)) }

/// A bare connection to the socket: sends the secret and `bytes`, and collects the reply until the other side closes.
func say(_ bytes: [String], to socket: ControlSocket) async throws -> String {
    try await bare(socket) { inbound, outbound in
        var inbound = inbound.makeAsyncIterator()
        for piece in bytes { try? await outbound.write(ByteBuffer(string: piece)) }
        var received = ""
        while let piece = try? await inbound.next() { received += String(buffer: piece) }
        return received
    }
}

func expect(
    _ reply: ControlReply,
    to request: ControlRequest,
    at socket: ControlSocket,
    sourceLocation: SourceLocation = #_sourceLocation
) async throws {
    let answer = try await ControlClient.ask(request, at: socket, on: group)
    #expect(answer == reply, sourceLocation: sourceLocation)
}

func bare<Result: Sendable>(
    _ socket: ControlSocket,
    proving: Bool = true,
    _ body: (NIOAsyncChannelInboundStream<ByteBuffer>, NIOAsyncChannelOutboundWriter<ByteBuffer>) async throws -> Result
) async throws -> Result {
    let channel = try await ClientBootstrap(group: group).connect(unixDomainSocketPath: socket.path) { channel in
        channel.eventLoop.makeCompletedFuture {
            try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
        }
    }
    return try await channel.executeThenClose { inbound, outbound in
        if proving { try? await outbound.write(ByteBuffer(string: proof(at: socket))) }
        return try await body(inbound, outbound)
    }
}

/// A connection that does nothing by itself: it does not even read.
final class BareSocket: Sendable {
    private let descriptor: Int32

    struct Failed: Error { var number: Int32 }

    init(_ socket: ControlSocket, proving: Bool = true) throws {
        descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: socket.path.utf8.prefix($0.count - 1)) }
        let outcome = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard outcome == 0 else { throw Failed(number: errno) }
        if proving { write(try proof(at: socket)) }
    }

    deinit { close(descriptor) }

    /// Writes nothing if the other side has closed.
    func write(_ text: String) {
        _ = send(descriptor, text, text.utf8.count, Int32(MSG_NOSIGNAL))
    }

    /// Whether the other side has closed, checked without reading.
    var isClosed: Bool {
        var waiting = pollfd(fd: descriptor, events: 0, revents: 0)
        return poll(&waiting, 1, 0) > 0 && Int32(waiting.revents) & Int32(POLLHUP) != 0
    }

    /// The first lines that come; fewer if the other side closes.
    func lines(_ count: Int) -> [String] {
        var (lines, line, byte) = ([String](), [UInt8](), UInt8(0))
        while lines.count < count, read(descriptor, &byte, 1) == 1 {
            if byte != UInt8(ascii: "\n") {
                line.append(byte)
            } else {
                lines.append(String(decoding: line, as: UTF8.self))
                line = []
            }
        }
        return lines
    }

    /// All text until the other side closes.
    func rest() -> String {
        var (text, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return String(decoding: text, as: UTF8.self) }
            text += buffer[..<count]
        }
    }
}

/// Polls for a condition that has no event. The suite's time limit ends a wait without result.
func until(_ isSo: () -> Bool) async throws {
    while !isSo() {
        try Task.checkCancellation()
        await Task.yield()
    }
}
