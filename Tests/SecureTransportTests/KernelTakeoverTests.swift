import COpenSSL
import NIOCore
import Sharing
import Testing

@testable import SecureTransport

/// What OpenSSL and the engine do when encryption is handed over, whether or not this kernel could take it.
@Suite(.enabled(if: Takeover.isPossible, "NOT TESTED: this OpenSSL hands nothing over to the kernel"))
struct KernelTakeoverTests {
    @Test("what OpenSSL has encrypted itself is handed over with the keys, and leaves first")
    func order() throws {
        let takeover = try Takeover(accepted: true)
        #expect(takeover.pair.client.isTakenOver)
        #expect(!takeover.pair.server.isTakenOver)
        // The server has got the client's last messages of the handshake, and no others.
        #expect(takeover.versions == [0x0304])
        #expect(takeover.server == .success(true))
        #expect(!takeover.pair.client.hasOutbound)
    }

    @Test("where the kernel refuses, OpenSSL goes on")
    func refused() throws {
        let takeover = try Takeover(accepted: false)
        let pair = takeover.pair
        #expect(!pair.client.isTakenOver)
        #expect(try pair.send(noise(40_000), from: pair.client, to: pair.server) == noise(40_000))
        #expect(try pair.send(noise(500), from: pair.server, to: pair.client) == noise(500))
    }

    @Test("the end of the stream becomes a record of its own")
    func end() throws {
        let client = try Takeover(accepted: true).pair.client
        client.closeOutbound()
        let closeNotify: [UInt8] = [1, 0]
        #expect(client.takeRecords() == [KernelTLS.Record(type: 21, bytes: closeNotify)])
        #expect(client.takeRecords().isEmpty)
        #expect(!client.hasOutbound)
    }

    @Test("the peer hears in a record of its own that what it sent was changed on its way")
    func alert() throws {
        var pair = try Takeover(accepted: true).pair
        pair.tamper = { bytes, _ in bytes.setInteger(UInt8(0), at: bytes.writerIndex - 1) }
        try pair.server.encrypt(noise(100))
        pair.carry(from: pair.server, to: pair.client)
        #expect(throws: TLSError.self) { try pair.client.decryptAll() }
        let badRecordMAC: [UInt8] = [2, 20]
        #expect(pair.client.takeRecords() == [KernelTLS.Record(type: 21, bytes: badRecordMAC)])
    }

    @Test("a peer that asks for new keys is told that there are none, and what it sent with that is still read")
    func newKeys() throws {
        let pair = try Takeover(accepted: true).pair
        #expect(try pair.send(noise(100), from: pair.server, to: pair.client) == noise(100))
        #expect(SSL_key_update(pair.server.connection, Int32(SSL_KEY_UPDATE_REQUESTED)) == 1)
        try pair.server.encrypt(noise(300))
        pair.carry(from: pair.server, to: pair.client)
        var plaintext = ByteBufferAllocator().buffer(capacity: 1000)
        #expect(try pair.client.decrypt(into: &plaintext) == .full)
        #expect(Array(plaintext.readableBytesView) == noise(300))
        #expect(throws: TLSError.newKeysAsked) { try pair.client.decrypt(into: &plaintext) }
    }

    @Test("a peer of AirDrop is never met with the kernel's encryption")
    func airDrop() { #expect(!TLSProfile.airdrop.kernelMayEncrypt) }

    @Test("only a list that names it says that the kernel has TLS")
    func list() {
        #expect(KernelTLS.isListed(in: "espintcp mptcp tls\n"))
        #expect(!KernelTLS.isListed(in: "mptcp\n"))
        #expect(!KernelTLS.isListed(in: "xtls tlsx\n"))
        #expect(!KernelTLS.isListed(in: ""))
    }
}

/// A client and a server that have shaken hands, and what the client was asked to hand over.
private final class Takeover {
    let pair: EnginePair
    private(set) var versions: [UInt16] = []
    private(set) var server: Result<Bool, TLSError>

    init(accepted: Bool) throws {
        var profile = TLSProfile.waft
        profile.kernelMayEncrypt = true
        pair = try EnginePair(clientProfile: profile)
        let keep = Kept()
        pair.client.offerTakeover { outbound, keys in
            keep.versions.append(keys.load(as: UInt16.self))
            guard accepted else { return false }
            keep.last.writeBuffer(&outbound)
            outbound.clear()
            return true
        }
        server = pair.shakeHands().server
        if keep.last.readableBytes > 0 {
            pair.server.receive(keep.last)
            server = Result { () throws(TLSError) in try pair.server.handshake() }
        }
        versions = keep.versions
    }

    private final class Kept {
        var versions: [UInt16] = []
        var last = ByteBuffer()
    }

    static let isPossible = (try? Takeover(accepted: true).pair.client.isTakenOver) ?? false
}
