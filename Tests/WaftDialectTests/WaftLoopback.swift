import Digests
import Executors
import HTTPChannel
import NIOCore
import NIOHTTP1
import NIOPosix
import SecureTransport
import Sharing
import TestSupport
import Testing

@testable import WaftDialect

private let disk = BlockingExecutor(threads: 4)

/// A receiver of the protocol on loopback ports: the port of a connection determines its peer.
struct WaftLoopback: Sendable {
    let inbox: MemoryInbox
    let consent: ScriptedConsent
    let delivery: RecordingDelivery
    let reception: Reception
    let events: Recorder<Reception.Event>
    /// Of its memberships in groups.
    let news = Recorder<GroupNews>()
    /// One for each connection that is over on the receiver's side.
    let served = Recorder<Void>()

    static let peer = PeerID.sample(1)
    static let other = PeerID.sample(2)
    static let third = PeerID.sample(3)

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
        signOfLife: Duration = .seconds(3_600),
        mayRelay: Bool = false,
        _ body: @Sendable (WaftLoopback) async throws -> Void
    ) async throws {
        var loopback = WaftLoopback(
            inbox: inbox, consent: consent, delivery: delivery, access: access, consentWait: consentWait,
            departedWait: departedWait)
        let server = WaftServer(
            reception: loopback.reception, signOfLife: signOfLife, relay: { mayRelay ? .accepted : .never },
            card: { _ in card })
        let reach = GroupReach(rule: GroupSender.rule, dialing: GroupSender.dial, news: loopback.news.record)
        let served = loopback.served
        try await withThrowingTaskGroup(of: Void.self) { group in
            for peer in [peer, other, third] {
                let listener = try await SecureLoopback.listen()
                loopback.ports[peer] = listener.port
                group.addTask {
                    try await listener.run { channel, _ in
                        try HTTPServer.configure(channel)
                    } onConnection: { connection in
                        await withTaskExecutorPreference(disk) {
                            await server.serve(connection.output, visitor: Visitor(peer), reach: { reach })
                        }
                        served.record(())
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
        try await SecureLoopback.http(try #require(ports[peer]), body)
    }

    /// The port at which it is asked as `peer`.
    func port(for peer: PeerID) throws -> Int { try #require(ports[peer]) }

    /// Sends bytes over a connection, waits until they have left, and closes without another word.
    func sendAndVanish(_ bytes: [ByteBuffer], as peer: PeerID = WaftLoopback.peer) async throws {
        let channel = try await SecureLoopback.dial(try #require(ports[peer])) { _ in }.channel
        for bytes in bytes { try await channel.writeAndFlush(bytes).get() }
        try await channel.close().get()
    }

    /// Sends bytes over a connection, and calls `body` before it closes.
    func send(_ bytes: ByteBuffer, _ body: () async throws -> Void) async throws {
        let channel = try await SecureLoopback.dial(try #require(ports[Self.peer])) { _ in }.channel
        try await channel.writeAndFlush(bytes).get()
        try await body()
        // The receiver may have closed it before.
        do { try await channel.close().get() } catch ChannelError.alreadyClosed {}
    }

    /// Begins the contents of a transfer, and calls `body` with their stream, on a thread of its own.
    func contents<Result: Sendable>(
        of transfer: TransferID, as peer: PeerID = WaftLoopback.peer,
        _ body: @escaping @Sendable (SecureStream) -> Result
    ) async throws -> Result {
        try await http(as: peer) { http in
            let switching = try await http.switchProtocols(
                WaftDialect.Resource.contents(transfer).path, to: WaftDialect.contentsProtocol, timeout: .seconds(60))
            guard case .switched(let stream) = switching else { throw HTTPError.malformed("it was refused") }
            return try #require(await BackgroundThread.run("waft-test") { body(stream) })
        }
    }

    /// Sends frames as the contents of a transfer and closes without waiting for an answer; returns when the receiver
    /// has noticed.
    /// - Returns: the fault with which it ended.
    @discardableResult
    func cut(_ transfer: TransferID, after frames: ByteBuffer) async throws -> TransferError? {
        try await contents(of: transfer) { stream in
            var frames = frames
            _ = try? stream.send(&frames, within: PeerTimeout(.seconds(60)), isListening: false)
            // Closing at once would destroy what the receiver has not read.
            stream.close(lingering: .seconds(30))
        }
        return try await end(of: transfer)
    }

    /// Offers, and sends the accepted items, all on one connection.
    func send(
        _ sources: [MemorySource],
        offer: Offer? = nil,
        cancellation: Cancellation = Cancellation(),
        progressed: @escaping @Sendable (UInt64) -> Void = { _ in }
    ) async throws -> SendResult {
        let offer = offer ?? Offer(of: sources)
        return try await client { client in
            let verdict = try await client.offer(offer, timeout: .seconds(60))
            return try await client.send(
                offer, sources, verdict: verdict, timeout: .seconds(60), cancellation: cancellation,
                progressed: { done, _ in progressed(done) })
        }
    }

    /// Offers, and gets the answer that is wanted.
    func offer(_ offer: Offer, as peer: PeerID = WaftLoopback.peer) async throws -> Verdict {
        try await client(as: peer) { try await $0.offer(offer, timeout: .seconds(60)) }
    }

    /// Sends any frames as the contents of a transfer.
    /// - Returns: the status of the answer; 200 if everything is stored, 101 with a fault in the answer to contents.
    func post(
        _ frames: ByteBuffer,
        to transfer: TransferID,
        as peer: PeerID = WaftLoopback.peer
    ) async throws -> (status: Int, fault: TransferError?, receipt: [ReceiptMessage.Item]?) {
        try await http(as: peer) { http in
            switch try await http.switchProtocols(
                WaftDialect.Resource.contents(transfer).path, to: WaftDialect.contentsProtocol, timeout: .seconds(60))
            {
            case .refused(let answer):
                let message = try WaftDialect.decode(FaultMessage.self, from: answer.body)
                let code = try #require(TransferError.Code(rawValue: message.fault))
                return (Int(answer.status.code), TransferError(code, message.message), nil)
            case .switched(let stream):
                let reply = await BackgroundThread.run("waft-test") {
                    var frames = frames
                    _ = try? stream.send(&frames, within: PeerTimeout(.seconds(60)), isListening: false)
                    let reply = ReplyText.read(from: stream)
                    stream.close(lingering: .seconds(60))
                    return (fault: reply.fault, text: reply.text)
                }
                let (fault, text) = try #require(reply)
                let items = try WaftDialect.lines(of: ReceiptMessage.self, in: text).items
                return (fault == nil ? 200 : 101, fault, items)
            }
        }
    }

    /// Waits until a transfer has ended at the receiver.
    /// - Returns: the fault it ended with.
    @discardableResult
    func end(of transfer: TransferID) async throws -> TransferError? {
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

extension SendResult.Item {
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
