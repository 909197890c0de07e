import Executors
import Foundation
import HTTPChannel
import NIOCore
import NIOHTTP1
import NIOPosix
import PropertyLists
import Sharing
import TestSupport
import Testing

@testable import AirDropDialect

let disk = BlockingExecutor(threads: 4)

/// A receiver of AirDrop on a port of loopback, without TLS.
struct AirDropLoopback: Sendable {
    let inbox: MemoryInbox
    let consent: ScriptedConsent
    let delivery = RecordingDelivery(.none)
    let reception: Reception
    let events: Recorder<Reception.Event>
    /// One record for each connection that has ended on the receiver's side.
    let served = Recorder<Void>()
    private var port = 0

    static let card = AirDropCard(name: "kitchen", model: "Waft1,1")

    private init(inbox: MemoryInbox, consent: ScriptedConsent.Answer) {
        let events = Recorder<Reception.Event>()
        self.events = events
        self.inbox = inbox
        self.consent = ScriptedConsent(consent)
        self.reception = Reception(
            inbox: inbox, journal: MemoryJournal(), gate: ScriptedGate(), consent: self.consent, delivery: delivery,
            consentWait: .seconds(3_600), observe: { events.record($0) })
    }

    /// Runs a receiver for as long as `body` takes.
    static func run(
        _ consent: ScriptedConsent.Answer = .accept,
        inbox: MemoryInbox = MemoryInbox(),
        isVisible: Bool = true,
        remarks: Recorder<EntryRemark> = Recorder(),
        _ body: @Sendable (AirDropLoopback) async throws -> Void
    ) async throws {
        var loopback = AirDropLoopback(inbox: inbox, consent: consent)
        let server = AirDropServer(
            reception: loopback.reception, remarked: { _, _, all in for remark in all { remarks.record(remark) } },
            card: { isVisible ? card : nil })
        let served = loopback.served
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture { try HTTPServer.configure(channel) }
            }
        loopback.port = try #require(listener.channel.localAddress?.port)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: disk) {
                try await listener.executeThenClose { connections in
                    try await withThrowingDiscardingTaskGroup { tasks in
                        for try await connection in connections {
                            tasks.addTask {
                                await server.serve(connection, visitor: Visitor(.unproven(.airdrop)))
                                served.record(())
                            }
                        }
                    }
                }
            }
            defer { group.cancelAll() }
            try await body(loopback)
        }
    }

    /// Calls `body` with a plain HTTP client, for tests that break the protocol.
    @discardableResult
    func http<Result: Sendable>(
        _ body: (HTTPClient) async throws -> sending Result
    ) async throws -> Result {
        let connection = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try HTTPClient.configure(channel, answerLimit: 1 << 20)
                }
            }
        return try await HTTPClient.run(connection, body)
    }

    /// Calls `body` with an AirDrop client.
    @discardableResult
    func client<Result: Sendable>(
        _ body: (AirDropClient) async throws -> sending Result
    ) async throws -> Result {
        try await http { http in
            let card = AirDropCard(name: "a test", model: "Test")
            return try await body(AirDropClient(http, card: card, instance: "0a0a0a0a0a0a"))
        }
    }

    /// A bare TCP connection.
    func bare<Result: Sendable>(_ body: (BareConnection) async throws -> Result) async throws -> Result {
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            try await body(BareConnection(inbound, outbound))
        }
    }

    /// Sends a question and a body on one connection.
    /// - Parameter pieces: the body, in the chunks in which it is sent.
    func send(
        ask: ByteBuffer, type: String = "application/x-cpio", headers: [(String, String)] = [], pieces: [ByteBuffer]
    ) async throws -> (ask: Int, upload: Int?) {
        try await http { http in
            let answer = try await http.post("/Ask", ask)
            guard answer.status == .ok else { return (Int(answer.status.code), nil) }
            var rest = pieces[...]
            let done = try await http.upload(
                "/Upload", headers: HTTPHeaders([("content-type", type)] + headers), timeout: .seconds(60)
            ) { rest.popFirst() }
            return (200, Int(done.status.code))
        }
    }

    /// Waits until a transfer has ended at the receiver.
    /// - Returns: the fault it ended with.
    @discardableResult
    func end() async throws -> TransferError? {
        let event = try await events.first { event in
            if case .ended = event { true } else { false }
        }
        guard case .ended(_, _, _, let fault) = event else { return nil }
        return fault
    }
}

/// Sends and receives raw bytes on a connection.
final class BareConnection {
    private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>

    init(
        _ inbound: NIOAsyncChannelInboundStream<ByteBuffer>, _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) {
        self.inbound = inbound.makeAsyncIterator()
        self.outbound = outbound
    }

    func send(_ text: String) async throws { try await outbound.write(ByteBuffer(string: text)) }

    func send(_ bytes: ByteBuffer) async throws { try await outbound.write(bytes) }

    /// Reads until `text` has come, or the other side has closed.
    /// - Returns: all bytes that have come.
    func receive(until text: String) async throws -> String {
        var all = ""
        while !all.contains(text), let bytes = try await inbound.next() { all += String(buffer: bytes) }
        return all
    }
}

extension HTTPClient {
    func post(_ path: String, _ body: ByteBuffer) async throws -> HTTPAnswer {
        try await exchange(.POST, path, headers: ["user-agent": "AirDrop/1.0"], body: body, timeout: .seconds(60))
    }
}

/// Recordings of real senders, as files.
enum Vector {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Vectors")

    static func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: folder.appendingPathComponent(name)))
    }

    static func buffer(_ name: String) throws -> ByteBuffer { ByteBuffer(bytes: try bytes(name)) }

    /// The names in the Inbox after one of the vectors' archives has been received with its question.
    static let names: Set<String> = ["hello.txt", "empty", "\u{FC}ber.txt", "photos"]

    /// All archives of the vectors have these contents.
    static func expectArrived(_ inbox: MemoryInbox) {
        #expect(Set(inbox.names) == names)
        #expect(inbox["hello.txt"]?.bytes == Array("hello, world\n".utf8))
        #expect(inbox["empty"]?.bytes == [])
        #expect(inbox["\u{FC}ber.txt"]?.bytes == Array("decomposed\n".utf8))
        let tree = inbox["photos"]?.entries ?? [:]
        #expect(tree["\u{E9}t\u{E9}/run"]?.bytes == Array("#!/bin/sh\n".utf8))
        #expect(tree["latest"] == .link(target: "\u{E9}t\u{E9}/run"))
        #expect(Set(tree.keys) == ["", "\u{E9}t\u{E9}", "\u{E9}t\u{E9}/run", "latest"])
        // Swift compares strings that look the same as equal, a disk does not: the names are in composed form.
        #expect(inbox.names.allSatisfy { !$0.unicodeScalars.contains("\u{308}") })
        #expect(tree.keys.allSatisfy { !$0.unicodeScalars.contains("\u{301}") })
        #expect(inbox.stagedCount == 0)
    }
}

/// Builds an odc archive, member by member; the members may be invalid.
struct HandMadeArchive {
    var bytes: [UInt8] = []

    mutating func add(
        _ name: String, _ contents: [UInt8] = [], mode: Int = 0o100644, claimed: Int? = nil, links: Int = 1
    ) {
        func octal(_ number: Int, _ digits: Int) -> String {
            let text = String(number, radix: 8)
            return String(repeating: "0", count: max(0, digits - text.count)) + text
        }
        let fields = [
            octal(0, 6), octal(1, 6), octal(mode, 6), octal(0, 6), octal(0, 6), octal(links, 6), octal(0, 6),
            octal(0, 11), octal(name.utf8.count + 1, 6), octal(claimed ?? contents.count, 11),
        ]
        bytes += Array("070707".utf8) + fields.flatMap { Array($0.utf8) } + Array(name.utf8) + [0] + contents
    }

    mutating func folder(_ name: String) { add(name, mode: 0o040755) }

    mutating func link(_ name: String, to target: String) { add(name, Array(target.utf8), mode: 0o120777) }

    /// The archive with its end.
    var whole: [UInt8] {
        var archive = self
        archive.add("TRAILER!!!", mode: 0)
        return archive.bytes
    }
}

/// A question that a test builds itself.
struct HandMadeAsk {
    struct File {
        var name: String
        var type = "public.data"
        var isFolder = false
        var size: UInt64?
        /// The file's path in the archive; nil uses the name.
        var path: String?
    }

    var files: [File] = []
    var links: [String] = []

    static func files(_ names: String...) -> ByteBuffer { files(names) }

    static func files(_ names: [String]) -> ByteBuffer { HandMadeAsk(files: names.map { File(name: $0) }).encoded }

    static func folder(_ name: String) -> ByteBuffer {
        HandMadeAsk(files: [File(name: name, type: "public.folder", isFolder: true)]).encoded
    }

    var encoded: ByteBuffer {
        guard let bytes = try? list.encoded() else { preconditionFailure("a question can be encoded") }
        return bytes
    }

    var list: PropertyList {
        let files = files.map { file in
            var fields: [String: PropertyList] = [
                "FileName": .string(file.name), "FileType": .string(file.type),
                "FileIsDirectory": .boolean(file.isFolder),
            ]
            fields["FileSize"] = file.size.map { .integer(Int64(clamping: $0)) }
            fields["FileBomPath"] = file.path.map { .string($0) }
            return PropertyList.dictionary(fields)
        }
        return .dictionary([
            "SenderComputerName": .string("a stranger"), "SenderID": .string("000000000000"), "Files": .array(files),
            "Items": .array(links.map { .string($0) }),
        ])
    }
}

/// A binary property list whose equal texts are one object each, as Apple's writer makes it.
struct SharedList {
    private var objects: [[UInt8]] = []
    private var texts: [String: Int] = [:]

    static func encoded(_ list: PropertyList) -> ByteBuffer {
        var shared = SharedList()
        let top = shared.add(list)
        var bytes = Array("bplist00".utf8)
        var offsets: [Int] = []
        for object in shared.objects {
            offsets.append(bytes.count)
            bytes += object
        }
        let table = bytes.count
        for offset in offsets { bytes += number(offset) }
        bytes += [0, 0, 0, 0, 0, 0, 4, 4]
        for value in [offsets.count, top, table] { bytes += [0, 0, 0, 0] + number(value) }
        return ByteBuffer(bytes: bytes)
    }

    private mutating func add(_ list: PropertyList) -> Int {
        switch list {
        case .boolean(let truth): return add([truth ? 0x09 : 0x08])
        case .integer(let value): return add([0x12] + Self.number(Int(value)))
        case .string(let text):
            if let known = texts[text] { return known }
            let number = add([0x5F, 0x12] + Self.number(text.utf8.count) + Array(text.utf8))
            texts[text] = number
            return number
        case .array(let values): return add([0xAF, 0x12] + Self.number(values.count), values.map { add($0) })
        case .dictionary(let fields):
            let keys = fields.keys.map { add(.string($0)) }
            return add([0xDF, 0x12] + Self.number(keys.count), keys + fields.values.map { add($0) })
        case .real, .data, .date, .other: preconditionFailure("no question of a test has it")
        }
    }

    private mutating func add(_ object: [UInt8], _ references: [Int] = []) -> Int {
        objects.append(object + references.flatMap(Self.number))
        return objects.count - 1
    }

    private static func number(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}

extension ByteBuffer {
    /// The body in pieces of `size` bytes.
    func pieces(of size: Int) -> [ByteBuffer] {
        var rest = self
        var pieces: [ByteBuffer] = []
        while let piece = rest.readSlice(length: Swift.min(size, rest.readableBytes)), piece.readableBytes > 0 {
            pieces.append(piece)
        }
        return pieces
    }
}
