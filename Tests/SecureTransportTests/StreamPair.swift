import Foundation
import Glibc
import NIOCore
import SystemCalls
import Testing

@testable import SecureTransport

/// Both ends of a secured connection without channels. The far end is another stream, or is played by hand.
final class StreamPair: Sendable {
    /// A server's stream, which most tests are about.
    let stream: SecureStream
    /// The client's engine and socket.
    nonisolated(unsafe) let farEngine: TLSEngine
    let farSocket: CInt

    init(early: [UInt8] = [], limits: TransportLimits = TransportLimits()) throws {
        let engines = try EnginePair(limits: limits)
        engines.open()
        var sockets: [CInt] = [-1, -1]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &sockets) == 0)
        // The stream has a copy.
        let near = SystemCalls.FileDescriptor(owning: sockets[0])
        stream = try SecureStream(engines.server, socket: near.raw, early: ByteBuffer(bytes: early))
        (farEngine, farSocket) = (engines.client, sockets[1])
    }

    deinit { close(farSocket) }

    /// The far end as a stream.
    func farStream() throws -> SecureStream {
        try SecureStream(farEngine, socket: farSocket, early: ByteBuffer())
    }

    // MARK: The far end by hand

    /// Encrypts with the far engine.
    func ciphertext(_ bytes: [UInt8]) throws -> [UInt8] {
        try farEngine.encrypt(bytes)
        return Array(farEngine.takeOutbound().readableBytesView)
    }

    /// Writes to the far socket as it is.
    func write(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(farSocket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Bytes that were written to the far socket, and that the stream has not taken.
    var unread: CInt {
        var count: CInt = 0
        return ioctl(farSocket, UInt(TIOCOUTQ), &count) == 0 ? count : 0
    }

    /// Ends the far side's half of the socket.
    func endSocket() { shutdown(farSocket, CInt(SHUT_WR)) }

    /// Reads at the far end until there are so many bytes of plaintext, or the stream has ended.
    func readFar(_ count: Int = .max) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 65_536)
        while bytes.count < count {
            let read = recv(farSocket, &room, room.count, 0)
            guard read > 0 else { break }
            farEngine.receive(ByteBuffer(bytes: room[..<read]))
            let (more, end) = try farEngine.decryptAll()
            bytes += more
            if end == .ended { break }
        }
        return bytes
    }
}

/// Runs what blocks on a thread of its own.
func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: body()) }
    }
}

extension SecureStream {
    static let ample = Duration.seconds(3_600)

    /// Receives until there are so many bytes, or an end.
    func receiveAll(_ count: Int = .max, within time: Duration = ample) -> (bytes: [UInt8], error: SecureStreamError?) {
        var bytes: [UInt8] = []
        do throws(SecureStreamError) {
            while bytes.count < count, let next = try receive(within: PeerTimeout(time)) {
                bytes += next.readableBytesView
            }
            return (bytes, nil)
        } catch {
            return (bytes, error)
        }
    }

    /// Sends all of `bytes`.
    func sendAll(
        _ bytes: [UInt8], within time: Duration = ample, isListening: Bool = false
    ) -> (heard: [UInt8]?, error: SecureStreamError?) {
        var buffer = ByteBuffer(bytes: bytes)
        do throws(SecureStreamError) {
            let heard = try send(&buffer, within: PeerTimeout(time), isListening: isListening)
            return (heard.map { Array($0.readableBytesView) }, nil)
        } catch {
            return (nil, error)
        }
    }
}
