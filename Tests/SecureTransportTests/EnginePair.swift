import COpenSSL
import NIOCore
import Sharing
import Testing

@testable import SecureTransport

/// Identities that all tests share: making an RSA key takes a while.
enum Identities {
    static let alice = made(.p256)
    static let bob = made(.p256)
    static let mallory = made(.p256)
    static let rsa = made(.rsa2048)

    private static func made(_ kind: KeyKind) -> Identity {
        do {
            return try Identity.make(kind: kind)
        } catch {
            fatalError("no identity for the tests: \(error)")
        }
    }
}

/// Two engines joined back to back: each receives the bytes that the other sends.
struct EnginePair {
    let client: TLSEngine
    let server: TLSEngine

    /// Cuts the carried bytes into pieces of this size.
    var pieceBytes = Int.max
    /// Changes the carried bytes before they are cut.
    var tamper: ((inout ByteBuffer, TLSContext.Role) -> Void)?

    init(
        clientIdentity: Identity = Identities.alice,
        serverIdentity: Identity = Identities.bob,
        clientProfile: TLSProfile = .waft,
        serverProfile: TLSProfile = .waft,
        limits: TransportLimits = TransportLimits(),
        expectedPeers: Set<PeerID>? = nil
    ) throws {
        client = try TLSEngine(
            context: .make(role: .client, identity: clientIdentity, profile: clientProfile, limits: limits),
            pin: PeerPin(keys: expectedPeers)
        )
        server = try TLSEngine(
            context: .make(role: .server, identity: serverIdentity, profile: serverProfile, limits: limits)
        )
    }

    init(client: TLSContext, server: TLSContext) throws {
        self.client = try TLSEngine(context: client)
        self.server = try TLSEngine(context: server)
    }

    /// Carries what `sender` has to send to `receiver`, and calls `arrived` after each piece.
    func carry(from sender: TLSEngine, to receiver: TLSEngine, arrived: () throws -> Void) rethrows {
        var bytes = sender.takeOutbound()
        tamper?(&bytes, sender.context.role)
        while bytes.readableBytes > 0 {
            guard let piece = bytes.readSlice(length: min(pieceBytes, bytes.readableBytes)) else { return }
            receiver.receive(piece)
            try arrived()
        }
    }

    func carry(from sender: TLSEngine, to receiver: TLSEngine) {
        carry(from: sender, to: receiver) {}
    }

    /// Runs both sides until neither has bytes to send. Returns the outcome of each handshake.
    func shakeHands() -> (client: Result<Bool, TLSError>, server: Result<Bool, TLSError>) {
        var clientResult = step(client)
        var serverResult = step(server)
        while client.hasOutbound || server.hasOutbound {
            carry(from: client, to: server) { serverResult = step(server) }
            carry(from: server, to: client) { clientResult = step(client) }
        }
        return (clientResult, serverResult)
    }

    private func step(_ engine: TLSEngine) -> Result<Bool, TLSError> {
        do throws(TLSError) {
            return .success(try engine.handshake())
        } catch {
            return .failure(error)
        }
    }

    /// Shakes hands, and expects both to be done.
    func open() {
        let (client, server) = shakeHands()
        #expect(client == .success(true))
        #expect(server == .success(true))
    }

    /// Encrypts with one engine, carries it, and decrypts with the other.
    func send(_ bytes: [UInt8], from sender: TLSEngine, to receiver: TLSEngine) throws -> [UInt8] {
        try sender.encrypt(bytes)
        var received: [UInt8] = []
        try carry(from: sender, to: receiver) { received += try receiver.decryptAll().bytes }
        return received
    }
}

extension TLSEngine {
    func encrypt(_ bytes: [UInt8]) throws {
        let result = bytes.withUnsafeBytes { bytes in Result { try self.encrypt(bytes) } }
        try result.get()
    }

    /// All bytes that can be decrypted now, and the result after them.
    func decryptAll() throws -> (bytes: [UInt8], end: Decrypted) {
        var bytes: [UInt8] = []
        while true {
            var buffer = ByteBufferAllocator().buffer(capacity: 64 * 1024)
            let end = try decrypt(into: &buffer)
            bytes += buffer.readableBytesView
            if end != .full { return (bytes, end) }
        }
    }
}

extension Result where Failure == TLSError {
    /// Why it failed.
    var code: TLSError.Code? {
        guard case .failure(let error) = self else { return nil }
        return error.code
    }
}

/// Bytes that no compressor or off-by-one would leave alone.
func noise(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var state = seed
    // A prime, so that no border between records, batches or buffers falls twice on the same place.
    let period = 65_537
    var bytes = (0..<min(count, period)).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return UInt8(truncatingIfNeeded: state >> 56)
    }
    bytes.reserveCapacity(count)
    while bytes.count < count { bytes += bytes.prefix(min(count - bytes.count, period)) }
    return bytes
}
