import Digests
import Executors
import HTTPChannel
import NIOCore
import NIOHTTP1
import NIOPosix
import Sharing
import TestSupport
import Testing

@testable import WaftDialect

private let disk = BlockingExecutor(threads: 4)

/// A receiver of the protocol on loopback ports, without TLS: the port of a connection determines its peer.
struct WaftLoopback: Sendable {
    let inbox: MemoryInbox
    let consent: ScriptedConsent
    let delivery: RecordingDelivery
    let reception: Reception
    let events: Recorder<Reception.Event>
    /// One for each connection that is over on the receiver's side.
    let served = Recorder<Void>()

    static let peer = PeerID.sample(1)
    static let other = PeerID.sample(2)

    private var ports: [PeerID: Int] = [:]

    private init(
        inbox: MemoryInbox, consent: ScriptedConsent.Answer, delivery: RecordingDelivery.Behaviour,
        access: PeerAccess, consentWait: Duration, departedWait: Duration
    ) {
        let events = Recorder<Reception.Event>()
        self.events = events
        self.inbox = inbox
        self.consent = ScriptedConsent(consent)
        self.delivery = RecordingDelivery(delivery)
        self.reception = Reception(
            inbox: inbox, journal: MemoryJournal(), gate: ScriptedGate { _ in access }, consent: self.consent,
            delivery: self.delivery,
            consentWait: consentWait, departedWait: departedWait,
            observe: { events.record($0) })
    }

    /// Runs a receiver for as long as `body` takes.
    static func run(
        _ consent: ScriptedConsent.Answer = .accept,
        inbox: MemoryInbox = MemoryInbox(),
        delivery: RecordingDelivery.Behaviour = .none,
        access: PeerAccess = .contact,
        consentWait: Duration = .seconds(3_600),
        departedWait: Duration = .seconds(3_600),
        card: Card? = Card(name: "kitchen", device: "server"),
        _ body: @Sendable (WaftLoopback) async throws -> Void
    ) async throws {
        var loopback = WaftLoopback(
            inbox: inbox, consent: consent, delivery: delivery, access: access, consentWait: consentWait,
            departedWait: departedWait)
        let server = WaftServer(reception: loopback.reception, card: { _ in card })
        let served = loopback.served
        try await withThrowingTaskGroup(of: Void.self) { group in
            for peer in [peer, other] {
                let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                    .bind(host: "127.0.0.1", port: 0) { channel in
                        channel.eventLoop.makeCompletedFuture { try HTTPServer.configure(channel) }
                    }
                loopback.ports[peer] = try #require(listener.channel.localAddress?.port)
                group.addTask(executorPreference: disk) {
                    try await listener.executeThenClose { connections in
                        try await withThrowingDiscardingTaskGroup { tasks in
                            for try await connection in connections {
                                tasks.addTask {
                                    await server.serve(connection, visitor: Visitor(peer))
                                    served.record(())
                                }
                            }
                        }
                    }
                }
            }
            defer { group.cancelAll() }
            try await body(loopback)
        }
    }

    /// Calls `body` with a client of the protocol.
    @discardableResult
    func client<Result: Sendable>(
        as peer: PeerID = WaftLoopback.peer,
        _ body: (WaftClient) async throws -> sending Result
    ) async throws -> Result {
        try await http(as: peer) { http in try await body(WaftClient(http)) }
    }

    /// Calls `body` with a client of HTTP alone, for those who do not keep to the protocol.
    @discardableResult
    func http<Result: Sendable>(
        as peer: PeerID = WaftLoopback.peer,
        _ body: (HTTPClient) async throws -> sending Result
    ) async throws -> Result {
        let connection = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: try #require(ports[peer])) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try HTTPClient.configure(channel, answerLimit: Limits.offerBytes)
                }
            }
        return try await HTTPClient.run(connection, body)
    }

    /// Sends bytes over TCP, waits until they have left, and closes without another word.
    func sendAndVanish(_ bytes: [ByteBuffer], as peer: PeerID = WaftLoopback.peer) async throws {
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: try #require(ports[peer])).get()
        for bytes in bytes { try await channel.writeAndFlush(bytes).get() }
        try await channel.close().get()
    }

    /// Offers, and sends the accepted items, all on one connection.
    func send(
        _ sources: [MemorySource],
        offer: Offer? = nil,
        cancellation: Cancellation = Cancellation(),
        progressed: @Sendable (UInt64) -> Void = { _ in }
    ) async throws -> SendOutcome {
        let offer = offer ?? Offer(of: sources)
        return try await client { client in
            let verdict = try await client.offer(offer, patience: .seconds(60))
            return try await client.send(
                offer, sources, verdict: verdict, patience: .seconds(60), cancellation: cancellation,
                progressed: { done, _ in progressed(done) })
        }
    }

    /// Offers, and gets the answer that is wanted.
    func offer(_ offer: Offer, as peer: PeerID = WaftLoopback.peer) async throws -> Verdict {
        try await client(as: peer) { try await $0.offer(offer, patience: .seconds(60)) }
    }

    /// Sends any frames as the contents of a transfer.
    func post(
        _ frames: ByteBuffer,
        to transfer: TransferID,
        as peer: PeerID = WaftLoopback.peer
    ) async throws -> (status: Int, fault: TransferFault?, receipt: [ReceiptMessage.Item]?) {
        var pieces = [frames]
        let answer = try await http(as: peer) { http in
            try await http.upload(
                WaftDialect.Resource.contents(transfer).path, contentType: WaftDialect.contentsType,
                patience: .seconds(60)
            ) { pieces.popLast() }
        }
        if answer.status == .ok {
            return (200, nil, try WaftDialect.lines(of: ReceiptMessage.self, in: answer.body).items)
        }
        let (message, items) = try WaftDialect.lines(of: FaultMessage.self, in: answer.body)
        let code = try #require(TransferFault.Code(rawValue: message.fault))
        return (Int(answer.status.code), TransferFault(code, message.message), message.transfer == nil ? nil : items)
    }

    /// Waits until a transfer has ended at the receiver.
    /// - Returns: the fault it ended with.
    @discardableResult
    func end(of transfer: TransferID) async throws -> TransferFault? {
        let event = try await events.first { event in
            if case .ended(transfer, _, _, _) = event { true } else { false }
        }
        guard case .ended(_, _, _, let fault) = event else { return nil }
        return fault
    }
}

extension ByteBuffer {
    /// The frames of an item that is one file.
    mutating func writeFileItem(_ number: Int, _ bytes: [UInt8], digest: Digest? = nil, size: UInt64? = nil) {
        writeFrame(.item(number))
        writeFile(bytes, path: nil, digest: digest, size: size)
        writeFrame(.itemEnd(digest ?? .of(.xxh3_128, bytes)))
    }

    mutating func writeFile(_ bytes: [UInt8], path: SafeRelativePath?, digest: Digest? = nil, size: UInt64? = nil) {
        writeFrame(.file(FileEntry(path: path, executable: false, modified: nil, size: size ?? UInt64(bytes.count))))
        writeData(bytes)
        writeFrame(.fileEnd(digest ?? .of(.xxh3_128, bytes)))
    }

    mutating func writeData(_ bytes: [UInt8]) {
        _ = writeDataFrame(capacity: max(bytes.count, 1)) { buffer in
            buffer.copyBytes(from: bytes)
            return bytes.count
        }
    }
}

extension SendOutcome.Item {
    /// The outcome in a word.
    var word: String {
        switch self {
        case .notAccepted(let verdict): "\(verdict.answer)"
        case .acknowledged(let receipt, _):
            switch receipt.outcome {
            case .stored: "stored"
            case .failed(let fault): "failed: \(fault.code)"
            case .notSent: "not sent"
            }
        case .unread(let fault): "unread: \(fault.code)"
        case .lost(let fault): "lost: \(fault.code)"
        }
    }
}
