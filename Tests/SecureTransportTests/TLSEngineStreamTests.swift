import COpenSSL
import NIOCore
import Sharing
import Testing

@testable import SecureTransport

@Suite struct TLSEngineStreamTests {
    @Test("data arrives unchanged both ways", arguments: [1, 2, 100, 16_383, 16_384, 16_385, 100_000])
    func bothWays(count: Int) throws {
        let pair = try EnginePair()
        pair.open()
        #expect(try pair.send(noise(count), from: pair.client, to: pair.server) == noise(count))
        #expect(try pair.send(noise(count, seed: 2), from: pair.server, to: pair.client) == noise(count, seed: 2))
    }

    @Test("16 MiB arrive unchanged both ways")
    func large() throws {
        let pair = try EnginePair()
        pair.open()
        let data = noise(16 * 1024 * 1024)
        #expect(try pair.send(data, from: pair.client, to: pair.server) == data)
        #expect(try pair.send(data, from: pair.server, to: pair.client) == data)
    }

    @Test("data that arrives in pieces of any size is the same", arguments: [1, 4, 5, 6, 22, 1000, 16_406])
    func pieces(pieceBytes: Int) throws {
        var pair = try EnginePair()
        pair.open()
        pair.pieceBytes = pieceBytes
        let data = noise(40_000)
        #expect(try pair.send(data, from: pair.client, to: pair.server) == data)
    }

    @Test("decrypted ciphertext is released at once, and the rest is kept")
    func lettingGo() throws {
        let pair = try EnginePair()
        pair.open()
        var pieces: [ByteBuffer] = []
        for seed in 1...2 {
            try pair.client.encrypt(noise(20_000, seed: UInt64(seed)))
            pieces.append(pair.client.takeOutbound())
        }
        for piece in pieces { pair.server.receive(piece) }
        var plaintext = ByteBufferAllocator().buffer(capacity: 20_000)
        #expect(try pair.server.decrypt(into: &plaintext) == .full)
        var received = Array(plaintext.readableBytesView)
        #expect(received.count > 20_000, "the buffer takes some of what came second")
        #expect(pieces[0].modifyIfUniquelyOwned { _ in } != nil)
        #expect(pieces[1].modifyIfUniquelyOwned { _ in } == nil)
        plaintext.clear()
        #expect(try pair.server.decrypt(into: &plaintext) == .needsInput)
        received += plaintext.readableBytesView
        #expect(pieces[1].modifyIfUniquelyOwned { _ in } != nil)
        #expect(received == noise(20_000, seed: 1) + noise(20_000, seed: 2))
    }

    @Test("decrypting stops where the buffer is full and goes on there")
    func smallBuffer() throws {
        let pair = try EnginePair()
        pair.open()
        let data = noise(50_000)
        try pair.client.encrypt(data)
        pair.carry(from: pair.client, to: pair.server)
        var received: [UInt8] = []
        while true {
            var buffer = ByteBuffer()
            buffer.reserveCapacity(1024)
            let capacity = buffer.capacity
            let end = try pair.server.decrypt(into: &buffer)
            #expect(buffer.capacity == capacity)
            received += buffer.readableBytesView
            if end == .needsInput { break }
            #expect(pair.server.unreadPlaintextBound > 0)
        }
        #expect(received == data)
        #expect(!pair.server.hasUnreadInput)
    }

    @Test("a write becomes as few records as it can")
    func records() throws {
        let pair = try EnginePair()
        pair.open()
        try pair.client.encrypt(noise(15 * 16 * 1024))
        // A record adds 22 bytes: its header, its type and its tag (RFC 8446, section 5.2).
        #expect(pair.client.takeOutbound().readableBytes == 15 * (16 * 1024 + 22))
    }

    @Test("a close_notify ends one direction, and the other goes on")
    func closeNotify() throws {
        let pair = try EnginePair()
        pair.open()
        try pair.client.encrypt(noise(10))
        pair.client.closeOutbound()
        pair.carry(from: pair.client, to: pair.server)
        let received = try pair.server.decryptAll()
        #expect(received.bytes == noise(10))
        #expect(received.end == .ended)
        #expect(pair.server.peerHasClosed)
        #expect(try pair.send(noise(20), from: pair.server, to: pair.client) == noise(20))
        pair.server.endInput()
        #expect(try pair.server.decryptAll().end == .ended)
    }

    @Test("data after a close_notify is discarded")
    func afterCloseNotify() throws {
        let pair = try EnginePair()
        pair.open()
        pair.client.closeOutbound()
        var bytes = pair.client.takeOutbound()
        bytes.writeRepeatingByte(0x17, count: 100_000)
        pair.server.receive(bytes)
        #expect(try pair.server.decryptAll().end == .ended)
        pair.server.receive(ByteBuffer(repeating: 0x17, count: 100_000))
        #expect(!pair.server.hasUnreadInput)
        #expect(try pair.server.decryptAll().end == .ended)
    }

    @Test("a second close_notify is not sent")
    func closedTwice() throws {
        let pair = try EnginePair()
        pair.open()
        pair.client.closeOutbound()
        #expect(pair.client.takeOutbound().readableBytes > 0)
        pair.client.closeOutbound()
        #expect(!pair.client.hasOutbound)
    }

    @Test("a truncated stream is reported as truncated, after the data that came")
    func truncated() throws {
        let pair = try EnginePair()
        pair.open()
        try pair.client.encrypt(noise(100))
        pair.carry(from: pair.client, to: pair.server)
        pair.server.endInput()
        var buffer = ByteBufferAllocator().buffer(capacity: 1024)
        #expect(try pair.server.decrypt(into: &buffer) == .full)
        #expect(Array(buffer.readableBytesView) == noise(100))
        #expect { try pair.server.decrypt(into: &buffer) } throws: { ($0 as? TLSError)?.code == .truncated }
    }

    @Test("a stream cut within a record is truncated and gives nothing of that record")
    func cutRecord() throws {
        let pair = try EnginePair()
        pair.open()
        try pair.client.encrypt(noise(1000))
        var bytes = pair.client.takeOutbound()
        bytes.moveWriterIndex(to: bytes.writerIndex - 1)
        pair.server.receive(bytes)
        pair.server.endInput()
        #expect { try pair.server.decryptAll() } throws: { ($0 as? TLSError)?.code == .truncated }
    }

    @Test("a record that was changed anywhere is refused", arguments: [0, 1, 3, 4, 5, 20, 100, 1021])
    func changedRecord(position: Int) throws {
        var pair = try EnginePair()
        pair.open()
        pair.tamper = { bytes, _ in
            let index = bytes.readerIndex + position
            bytes.setInteger((bytes.getInteger(at: index, as: UInt8.self) ?? 0) ^ 1, at: index)
        }
        try pair.client.encrypt(noise(1000))
        pair.carry(from: pair.client, to: pair.server)
        // A larger length makes the engine wait for more.
        pair.server.receive(ByteBuffer(repeating: 0, count: 2 * 16_406))
        #expect { try pair.server.decryptAll() } throws: { error in
            let code = (error as? TLSError)?.code
            return code == .corrupted || code == .protocolViolation
        }
        #expect(pair.server.hasOutbound, "the peer is told by an alert")
    }

    @Test("the peer's alert is reported with its number")
    func alert() throws {
        let pair = try EnginePair()
        pair.open()
        pair.server.receive(ByteBuffer(bytes: [0x17, 0x03, 0x03, 0x00, 0x20] + noise(32)))
        #expect(throws: TLSError.self) { try pair.server.decryptAll() }
        pair.carry(from: pair.server, to: pair.client)
        #expect { try pair.client.decryptAll() } throws: { ($0 as? TLSError)?.alert == UInt8(SSL3_AD_BAD_RECORD_MAC) }
    }

    @Test("repeated and left-out records are refused")
    func replay() throws {
        let pair = try EnginePair()
        pair.open()
        try pair.client.encrypt(noise(10))
        let first = pair.client.takeOutbound()
        pair.server.receive(first)
        #expect(try pair.server.decryptAll().bytes == noise(10))
        pair.server.receive(first)
        #expect(throws: TLSError.self) { try pair.server.decryptAll() }
    }

    @Test("new keys in mid-stream are followed, and answered")
    func keyUpdate() throws {
        let pair = try EnginePair()
        pair.open()
        #expect(SSL_key_update(pair.client.connection, SSL_KEY_UPDATE_REQUESTED) == 1)
        #expect(try pair.send(noise(10), from: pair.client, to: pair.server) == noise(10))
        #expect(try pair.send(noise(20), from: pair.server, to: pair.client) == noise(20))
        #expect(try pair.send(noise(30), from: pair.client, to: pair.server) == noise(30))
    }

    @Test("a peer that asks for new keys without end is refused")
    func keyUpdateFlood() throws {
        let pair = try EnginePair()
        pair.open()
        #expect(throws: TLSError.self) {
            for _ in 0..<10_000 {
                #expect(SSL_key_update(pair.client.connection, SSL_KEY_UPDATE_REQUESTED) == 1)
                #expect(SSL_do_handshake(pair.client.connection) == 1)
                pair.carry(from: pair.client, to: pair.server)
                _ = try pair.server.decryptAll()
                // The answers are read, so that the client can go on asking.
                pair.carry(from: pair.server, to: pair.client)
                _ = try pair.client.decryptAll()
            }
        }
        #expect { try pair.server.decryptAll() } throws: { ($0 as? TLSError)?.code == .protocolViolation }
    }

    @Test("after an error every call repeats it")
    func errorStays() throws {
        let pair = try EnginePair()
        pair.open()
        pair.server.endInput()
        var buffer = ByteBufferAllocator().buffer(capacity: 1024)
        for _ in 0..<2 {
            #expect { try pair.server.decrypt(into: &buffer) } throws: { ($0 as? TLSError)?.code == .truncated }
        }
        #expect { try pair.server.encrypt([1]) } throws: { ($0 as? TLSError)?.code == .truncated }
    }

    @Test("both ends export the same secret, and another for another label, context or connection")
    func export() throws {
        let pair = try EnginePair()
        #expect(throws: TLSError.self) { try pair.client.exportKeyingMaterial(label: "a", context: [], length: 32) }
        pair.open()
        let secret = try pair.client.exportKeyingMaterial(label: "a", context: [1], length: 32)
        #expect(secret.count == 32)
        #expect(try pair.server.exportKeyingMaterial(label: "a", context: [1], length: 32) == secret)
        #expect(try pair.server.exportKeyingMaterial(label: "b", context: [1], length: 32) != secret)
        #expect(try pair.server.exportKeyingMaterial(label: "a", context: [2], length: 32) != secret)
        let other = try EnginePair()
        other.open()
        #expect(try other.client.exportKeyingMaterial(label: "a", context: [1], length: 32) != secret)
    }
}
