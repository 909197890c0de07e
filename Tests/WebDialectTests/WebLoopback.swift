import Executors
import Foundation
import HTTPChannel
import NIOCore
import NIOHTTP1
import NIOPosix
import Sharing
import TestSupport
import Testing

@testable import WebDialect

let disk = BlockingExecutor(threads: 6)

/// A page for guests on a port of loopback, without TLS.
struct WebLoopback: Sendable {
    let inbox = MemoryInbox()
    let consent: ScriptedConsent
    let reception: Reception
    let server: WebServer
    let session: WebSession
    let events = Recorder<WebEvent>()
    private let authorities = Recorder<String>()
    private(set) var port = 0

    private init(
        _ consent: ScriptedConsent.Answer, _ session: WebSession, tries: Int, waits: WebServer.Waits,
        refusal: @escaping @Sendable (OfferedItem) -> String?
    ) {
        self.consent = ScriptedConsent(consent)
        self.session = session
        reception = Reception(
            inbox: inbox, journal: MemoryJournal(), gate: ScriptedGate(), consent: self.consent,
            delivery: RecordingDelivery(.none), refusal: refusal, consentWait: .seconds(3_600), observe: { _ in })
        server = WebServer(
            WebServer.Host(
                reception: reception, name: { "kitchen <1>" }, authorities: { [authorities] in Set(authorities.all) },
                observe: { [events] in events.record($0) }, threads: { disk }),
            pins: PINGate(tries: tries), waits: waits)
    }

    /// Serves for as long as `body` takes.
    static func run(
        _ consent: ScriptedConsent.Answer = .accept, _ session: WebSession = WebSession(pin: "123456", isPlain: true),
        tries: Int = WebLimits.wrongPINs, waits: WebServer.Waits = .init(),
        refusal: @escaping @Sendable (OfferedItem) -> String? = { _ in nil },
        _ body: @Sendable (WebLoopback) async throws -> Void
    ) async throws {
        var loopback = WebLoopback(consent, session, tries: tries, waits: waits, refusal: refusal)
        let server = loopback.server
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try HTTPServer.configure(channel, watchInterval: .milliseconds(20))
                }
            }
        loopback.port = try #require(listener.channel.localAddress?.port)
        loopback.authorities.record(loopback.host)
        await server.open(session)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: disk) {
                try await listener.executeThenClose { connections in
                    try await withThrowingDiscardingTaskGroup { tasks in
                        for try await connection in connections {
                            tasks.addTask {
                                await server.serve(
                                    connection,
                                    visitor: Visitor(
                                        .unproven(.web), at: AddressKey(v4: 1), origin: OfferOrigin(host: "10.0.0.1")))
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

    var host: String { "127.0.0.1:\(port)" }

    /// One request on a connection of its own.
    func send(
        _ method: HTTPMethod, _ path: String, _ fields: [String: String] = [:], body: ByteBuffer? = nil
    ) async throws -> HTTPAnswer {
        let connection = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture { try HTTPClient.configure(channel, answerLimit: 64 << 20) }
            }
        var headers = HTTPHeaders([("host", host)])
        for (name, value) in fields { headers.replaceOrAdd(name: name, value: value) }
        return try await HTTPClient.run(connection) { [headers] in
            try await $0.exchange(method, path, headers: headers, body: body, timeout: .seconds(60))
        }
    }

    func get(_ path: String, _ fields: [String: String] = [:]) async throws -> HTTPAnswer {
        try await send(.GET, path, fields)
    }

    /// Opens the page by its secret.
    func enter() async throws -> WebGuest {
        let answer = try await get(session.path)
        let cookie = try #require(answer.headers.first(name: "set-cookie")?.split(separator: ";").first)
        return WebGuest(page: self, cookie: String(cookie))
    }
}

/// A browser that has its cookie.
struct WebGuest: Sendable {
    let page: WebLoopback
    let cookie: String

    func send(
        _ method: HTTPMethod, _ path: String, _ fields: [String: String] = [:], _ text: String? = nil
    ) async throws -> HTTPAnswer {
        try await page.send(
            method, self.path(path), fields.merging(["cookie": cookie]) { first, _ in first },
            body: text.map { ByteBuffer(string: $0) })
    }

    /// The head of a request, for a `RawGuest`.
    func request(_ method: String, _ path: String) -> String {
        "\(method) \(self.path(path)) HTTP/1.1\r\nhost: \(page.host)\r\ncookie: \(cookie)\r\n\r\n"
    }

    /// A path of the page, as guests see it.
    func path(_ path: String) -> String { page.session.roomPath + path.dropFirst() }

    func get(_ path: String, _ fields: [String: String] = [:]) async throws -> HTTPAnswer {
        try await send(.GET, path, fields)
    }

    struct Ticket: Decodable {
        var offer: String
        var items: [Report.Item]
    }

    struct Report: Decodable {
        struct Item: Decodable {
            var name: String
            var kind: String
            var answer: String?
            var reason: String
            var stored: String?
            var failed: String?
        }

        struct File: Decodable {
            var item: Int
            var name: String
            var offset: Int
            var state: String
        }

        var version: Int
        var state: String
        var items: [Item]
        var files: [File]
        var cause: String?
    }

    struct Piece: Decodable {
        var offset: Int
        var state: String
        var message: String?
        var stored: String?
    }

    func ask(_ json: String) async throws -> HTTPAnswer {
        try await send(.POST, "/offers", ["content-type": "application/json"], json)
    }

    /// Asks to send files, and waits for the answer.
    func offer(_ files: (name: String, size: Int)...) async throws -> String {
        let items = files.map { #"{"name":"\#($0.name)","size":\#($0.size)}"# }.joined(separator: ",")
        let answer = try await ask(#"{"name":"Anna","items":[\#(items)]}"#)
        let ticket = try answer.json(Ticket.self)
        _ = try await report(of: ticket.offer) { $0.state != "waiting" }
        return ticket.offer
    }

    /// Follows an offer until its state is as wished.
    func report(of offer: String, until isDue: (Report) -> Bool = { _ in true }) async throws -> Report {
        var report = try await get("/offers/\(offer)").json(Report.self)
        while !isDue(report) {
            report = try await get("/offers/\(offer)?wait=25&after=\(report.version)").json(Report.self)
        }
        return report
    }

    /// Sends a piece.
    /// - Returns: the status and the report.
    func put(_ text: String, at offset: Int = 0, file: Int, of id: String) async throws -> (Int, Piece) {
        let answer = try await send(.PUT, "/offers/\(id)/files/\(file)?offset=\(offset)", [:], text)
        return (Int(answer.status.code), try answer.json(Piece.self))
    }
}

extension HTTPAnswer {
    var text: String { String(buffer: body) }
    var code: Int { Int(status.code) }

    func json<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try JSONDecoder().decode(type, from: Data(body.readableBytesView))
    }
}
