import Discovery
import Glibc
import HTTPChannel
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import SecureTransport
import Sharing
import TestSupport
import Testing

@testable import AirDropDialect
@testable import Peer

@Suite("A receiver of AirDrop's", .timeLimit(.minutes(1)))
struct AirDropSendingTests {
    @Test("that closes or resets the connection on which it was asked has declined", arguments: [false, true])
    func cutOff(resets: Bool) async throws {
        let receiver = StrictReceiver(resets: resets) { exchange in exchange.breakingOff() }
        let report = try await receiver.send()
        guard case .notAccepted(let verdict)? = report.items.first else {
            Issue.record("\(Array(report.items))")
            return
        }
        #expect(verdict.answer == .declined)
        #expect(receiver.asked.all == ["/Ask"])
    }

    @Test("that refuses the form of the contents is asked once more and gets the other form", arguments: [406, 415])
    func otherForm(status: Int) async throws {
        for flags in [AirDropFlags.own, .standard] {
            let receiver = StrictReceiver { exchange in
                let isFirst =
                    exchange.head.headers.first(name: "content-type")?.hasSuffix("dvzip") == flags.contains(.dvzip)
                try await exchange.finish(exchange.head.uri == "/Upload" && isFirst ? status : 200)
            }
            let report = try await receiver.send(flags: flags)
            guard case .acknowledged? = report.items.first else {
                Issue.record("\(Array(report.items))")
                continue
            }
            let forms = ["application/x-dvzip", "application/x-cpio"]
            let expected = flags.contains(.dvzip) ? forms : forms.reversed()
            #expect(receiver.asked.all == ["/Ask", "/Upload " + expected[0], "/Ask", "/Upload " + expected[1]])
        }
    }

    @Test("that refuses both forms is not asked a third time")
    func noForm() async throws {
        let receiver = StrictReceiver { try await $0.finish($0.head.uri == "/Upload" ? 406 : 200) }
        let failure = await #expect(throws: SendFailure.self) { _ = try await receiver.send() }
        #expect(failure?.description.contains("406") == true)
        #expect(receiver.asked.all.count == 4)
    }

    @Test("that has no room, or says no to the contents, is not one that failed")
    func statuses() async throws {
        for (status, code) in [(507, TransferFault.Code.noRoom), (401, .notAccepted), (500, .storage)] {
            let receiver = StrictReceiver { try await $0.finish($0.head.uri == "/Upload" ? status : 200) }
            guard case .lost(let fault)? = try await receiver.send().items.first else {
                Issue.record("\(status)")
                continue
            }
            #expect(fault.code == code)
        }
    }

    @Test("that is one of Waft is not shown a second time, and its TXT record has the flags alone")
    func own() async throws {
        #expect(AirDropDialect.txt(.own).keys.sorted() == ["flags"])
        let ours = StrictReceiver { exchange in
            try await exchange.finish(
                200, try AirDropMessage.showing(AirDropCard(name: "kitchen", model: "x")).encoded())
        }
        let mac = StrictReceiver { exchange in
            let names: [String: PropertyListValue] = ["ReceiverComputerName": .string("Mac")]
            try await exchange.finish(200, try PropertyListValue.dictionary(names).encoded())
        }
        try await ours.run { first in
            try await mac.run { second in
                let directory = KnownServices()
                let (events, feed) = AsyncStream<PeerEvent>.makeStream()
                let network = StrictReceiver.network
                let search = Task { await network.lookForAirDrop(in: directory, feed) }
                defer { search.cancel() }
                try directory.show("a", at: first)
                _ = try await ours.answered.first()
                try directory.show("b", at: second)
                for await case .found(let peer) in events {
                    #expect(peer.card?.name == "Mac")
                    break
                }
            }
        }
        #expect(ours.asked.all == ["/Discover"])
    }
}

extension AirDropSendingTests {
    @Test("that was started again is one receiver, while the record of its old instance is still there")
    func restarted() async throws {
        let mac = StrictReceiver { exchange in
            let names: [String: PropertyListValue] = ["ReceiverComputerName": .string("Mac")]
            try await exchange.finish(200, try PropertyListValue.dictionary(names).encoded())
        }
        try await mac.run { port in
            let directory = KnownServices()
            try directory.show("old", at: port)
            try directory.show("new", at: port)
            let network = StrictReceiver.network(with: directory)
            let target = try await network.resolve(.name("Mac"), within: .seconds(20))
            #expect(target.airdrop?.name == "Mac")
            #expect(target.addresses.map(\.port) == [port])
        }
        #expect(Set(mac.asked.all) == ["/Discover"])
    }
}

/// A receiver of AirDrop's that answers as a test says, over TLS on loopback.
private struct StrictReceiver: Sendable {
    /// Whether its connections end with a reset.
    var resets = false
    let answer: @Sendable (HTTPExchange) async throws -> Void
    /// The requested paths; for contents with their type.
    let asked = Recorder<String>()
    /// One for each answer.
    let answered = Recorder<Void>()

    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    static let network = network(with: nil)

    static func network(with directory: KnownServices?) -> PeerNetwork {
        guard let identity = try? Identity.make() else { preconditionFailure("no key can be made") }
        return PeerNetwork(
            directory: directory, identity: identity, airdrop: AirDropSide(Settings([], hostName: "study")),
            logger: logger)
    }

    init(resets: Bool = false, _ answer: @escaping @Sendable (HTTPExchange) async throws -> Void) {
        (self.resets, self.answer) = (resets, answer)
    }

    /// Runs it for as long as `body` takes, which gets the port.
    func run<Result: Sendable>(_ body: @Sendable (Int) async throws -> Result) async throws -> Result {
        let listener = try await SecureListener.bind(
            .init(host: "127.0.0.1", identity: try .make(kind: .rsa2048), profile: .airdrop), group: .singleton,
            logger: Self.logger)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await listener.run { channel, _ in
                    if resets, let socket = channel as? any SocketOptionProvider {
                        socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).whenFailure { error in
                            Issue.record(error)
                        }
                    }
                    return try HTTPServer.configure(channel)
                } onConnection: { connection in
                    await HTTPServer.serve(
                        connection.output, idle: .seconds(60), silence: .seconds(60), interim: .seconds(60),
                        lingering: .milliseconds(100)
                    ) { exchange in
                        let type = exchange.head.headers.first(name: "content-type") ?? ""
                        let path = exchange.head.uri
                        asked.record(path == "/Upload" ? "\(path) \(type)" : path)
                        try await answer(exchange)
                        answered.record(())
                    }
                }
            }
            defer { group.cancelAll() }
            return try await body(listener.port)
        }
    }

    /// Runs it, and sends it a file.
    func send(flags: AirDropFlags = .own) async throws -> SendReport {
        try await run { port in
            var target = PeerTarget(addresses: [DialAddress(host: "127.0.0.1", port: port)], expected: nil)
            let peer = AirDropPeer(instance: "0123456789ab", flags: flags, name: "Mac")
            target.airdrop = peer
            let sources = [MemorySource.file("a", [1, 2, 3])]
            return try await Self.network.sendByAirDrop(
                sources, Offer(of: sources), to: target, peer, options: SendOptions(), cancellation: Cancellation()
            ) { _ in }
        }
    }
}

extension HTTPExchange {
    /// Reads what came, and answers.
    fileprivate func finish(_ status: Int, _ body: ByteBuffer = ByteBuffer()) async throws {
        while try await nextBytes() != nil {}
        try await respond(HTTPResponseStatus(statusCode: status), contentType: nil, body: body)
    }
}

/// A directory in which a test puts services.
private struct KnownServices: ServiceDirectory {
    private let events = AsyncStream<BrowseEvent>.makeStream()

    func publish(_ service: ServiceDescription) async throws -> any Publication { throw CancellationError() }

    func browse(type: String) -> AsyncStream<BrowseEvent> {
        type == AirDropDialect.serviceType ? events.stream : AsyncStream { $0.finish() }
    }

    func show(_ instance: String, at port: Int) throws {
        let loopback = NetworkInterface(index: 1, name: "lo", isLoopback: true)
        let address = try #require(
            ServiceAddress(
                bytes: [127, 0, 0, 1], host: "127.0.0.1", interface: loopback, port: UInt16(clamping: port)))
        let service = DiscoveredService(
            instance: instance, hostName: "mac.local", addresses: [address], txt: ["flags": "139"], isLocal: true)
        events.continuation.yield(.updated(service))
    }
}
