import Executors
import Foundation
import HTTPChannel
import NIOCore
import NIOHTTP1
import NIOPosix
import Sharing
import TestSupport
import Testing

@testable import LocalSendDialect

let disk = BlockingExecutor(threads: 4)

/// A receiver of LocalSend on a port of loopback, without TLS.
struct LocalSendLoopback: Sendable {
    let inbox = MemoryInbox()
    let consent: ScriptedConsent
    let delivery = RecordingDelivery(.none)
    let reception: Reception
    let server: LocalSendServer
    let met = Recorder<LocalSendDevice>()
    let ended = Recorder<EndedSession>()
    let events = Recorder<Reception.Event>()
    /// A reception whose transfers are cancelled as soon as they begin.
    private let canceller = Recorder<Reception>()
    private(set) var port = 0

    static let device = LocalSendDevice(
        alias: "kitchen", deviceModel: "Linux", deviceType: "headless",
        fingerprint: String(repeating: "AB", count: 32))

    private init(
        _ consent: ScriptedConsent.Answer, from access: PeerAccess, pin: String?, isVisible: Bool,
        cancelsAtOnce: Bool,
        waits: LocalSendServer.Waits
    ) {
        self.consent = ScriptedConsent(consent)
        reception = Reception(
            inbox: inbox, journal: MemoryJournal(), gate: ScriptedGate(access: { _ in access }), consent: self.consent,
            delivery: delivery,
            consentWait: .seconds(3_600),
            observe: { [events, canceller] event in
                events.record(event)
                if case .began(let offer, _) = event { _ = canceller.all.first?.cancel(offer.transfer) }
            })
        if cancelsAtOnce { canceller.record(reception) }
        server = LocalSendServer(
            LocalSendServer.Host(
                reception: reception, device: { _ in isVisible ? Self.device : nil }, pin: { pin },
                met: { [met] device, _ in met.record(device) }, ended: { [ended] in ended.record($0) },
                threads: { disk }),
            pins: PINGate(tries: LocalSendLimits.wrongPINs), waits: waits)
    }

    /// Runs a receiver for as long as `body` takes.
    /// - Parameters:
    ///   - access: the access of all senders.
    ///   - cancelsAtOnce: whether its user cancels each transfer in the moment that it begins.
    static func run(
        _ consent: ScriptedConsent.Answer = .accept, from access: PeerAccess = .contact, pin: String? = nil,
        isVisible: Bool = true, cancelsAtOnce: Bool = false, waits: LocalSendServer.Waits = .init(),
        _ body: @Sendable (LocalSendLoopback) async throws -> Void
    ) async throws {
        var loopback = LocalSendLoopback(
            consent, from: access, pin: pin, isVisible: isVisible, cancelsAtOnce: cancelsAtOnce, waits: waits)
        let server = loopback.server
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try HTTPServer.configure(channel, watchInterval: .milliseconds(20))
                }
            }
        loopback.port = try #require(listener.channel.localAddress?.port)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: disk) {
                try await listener.executeThenClose { connections in
                    try await withThrowingDiscardingTaskGroup { tasks in
                        for try await connection in connections {
                            tasks.addTask {
                                await server.serve(
                                    connection, visitor: Visitor(.unproven(.localsend), at: AddressKey(v4: 1)))
                            }
                        }
                    }
                }
            }
            defer { group.cancelAll() }
            try await body(loopback)
            await server.close()
        }
    }

    /// Calls `body` with a client on a connection of its own.
    @discardableResult
    func http<Result: Sendable>(
        _ body: (HTTPClient) async throws -> sending Result
    ) async throws -> Result {
        let connection = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture { try HTTPClient.configure(channel, answerLimit: 1 << 20) }
            }
        return try await HTTPClient.run(connection, body)
    }

    /// The answer to the first item of the first offer.
    func judged() async throws -> ItemVerdict {
        let event = try await events.first { if case .judged = $0 { true } else { false } }
        guard case .judged(_, let verdict, _) = event, let item = verdict.items.first else { return .accepted }
        return item
    }

    func get(_ path: String) async throws -> HTTPAnswer {
        try await http { try await $0.exchange(.GET, path, timeout: .seconds(60)) }
    }

    func post(_ path: String, _ body: String = "") async throws -> HTTPAnswer {
        try await http {
            try await $0.exchange(
                .POST, LocalSendDialect.prefix + path, body: ByteBuffer(string: body), timeout: .seconds(60))
        }
    }

    func postStatus(_ path: String, _ body: String = "") async throws -> Int {
        Int(try await post(path, body).status.code)
    }

    /// The answer to a question.
    struct Reply: Sendable {
        var session: LocalSendSession?
        var status: Int
        /// Of a refusal.
        var message: String
    }

    /// Asks to send files.
    func ask(_ files: [LocalSendFile], pin: String = "") async throws -> Reply {
        var sender = Self.device
        (sender.alias, sender.fingerprint) = ("phone", "12")
        let question = LocalSendQuestion(info: sender, files: files)
        let body = String(decoding: try JSONEncoder().encode(question), as: UTF8.self)
        let answer = try await post("prepare-upload" + (pin.isEmpty ? "" : "?pin=\(pin)"), body)
        let session = try? JSONDecoder().decode(LocalSendSession.self, from: Data(answer.body.readableBytesView))
        let message = try? JSONDecoder().decode(LocalSendMessage.self, from: Data(answer.body.readableBytesView))
        return Reply(session: session, status: Int(answer.status.code), message: message?.message ?? "")
    }

    /// The status of the answer to a question.
    func status(_ files: [LocalSendFile], pin: String = "") async throws -> Int {
        try await ask(files, pin: pin).status
    }

    /// Sends one file.
    /// - Returns: the status.
    func upload(_ text: String, as file: String, in session: LocalSendSession, token: String? = nil) async throws -> Int
    {
        let token = token ?? session.files[file] ?? ""
        let path = "upload?sessionId=\(session.sessionId)&fileId=\(file)&token=\(token)"
        return Int(try await post(path, text).status.code)
    }
}

extension LocalSendFile {
    static func sample(_ name: String, _ contents: String = "hello", id: String? = nil) -> LocalSendFile {
        LocalSendFile(
            id: id ?? name.replacing("/", with: "-"), fileName: name, size: UInt64(contents.utf8.count),
            fileType: "application/octet-stream")
    }
}
