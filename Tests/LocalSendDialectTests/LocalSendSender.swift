import HTTPChannel
import NIOCore
import NIOHTTP1
import NIOPosix
import Sharing
import Synchronization
import TestSupport
import Testing

@testable import LocalSendDialect

/// The sending half, towards a port of loopback.
struct LocalSendSender: Sendable {
    let port: Int
    var pin: String?
    var takesPart = false
    var times = LocalSendTimes(answer: .seconds(60), silence: .seconds(60), retryFor: .seconds(60))
    /// After so many bytes the sending is cancelled.
    var most = UInt64.max
    let cancellation = Cancellation()
    let answers = Recorder<Verdict>()
    /// Bytes handed over.
    let progress = Recorder<UInt64>()

    /// Another address than any device's own.
    private static let device = {
        var device = LocalSendDevice(alias: "study", deviceModel: "Linux", deviceType: "headless", fingerprint: "12")
        (device.port, device.scheme) = (53_317, .https)
        return device
    }()

    func plan(_ sources: [MemorySource]) throws -> LocalSendPlan {
        var offer = Offer(of: sources)
        offer.takesPart = takesPart
        return try LocalSendPlan(offer, sources)
    }

    func run(_ sources: [MemorySource]) async throws -> LocalSendSending.Outcome {
        let sending = try LocalSendSending(
            plan(sources), from: Self.device, pin: pin, times: times, cancellation: cancellation
        ) { [port] body in
            let connection = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .connect(host: "127.0.0.1", port: port) { channel in
                    channel.eventLoop.makeCompletedFuture { try HTTPClient.configure(channel, answerLimit: 1 << 20) }
                }
            try await HTTPClient.run(connection) { await body($0) }
        }
        return try await withTaskExecutorPreference(disk) { [answers, progress, most, cancellation] in
            try await sending.run(
                answered: { answers.record($0) },
                progressed: { done, _ in
                    if done > most { cancellation.request() }
                    progress.record(done)
                })
        }
    }

    /// The ends of the items, in words.
    func send(_ sources: [MemorySource]) async throws -> [String] {
        switch try await run(sources) {
        case .refused(let refusal): ["\(refusal.status) \(refusal.message)"]
        case .ended(let result, _):
            result.items.map { item in
                switch item {
                case .notAccepted(let verdict): "\(verdict.answer): \(verdict.reason)"
                case .acknowledged(let receipt, _):
                    if case .stored(let name, let size, _) = receipt.outcome { "stored \(name) \(size)" } else { "?" }
                case .unread(let fault): "unread: \(fault.message)"
                case .lost(let fault): "lost (\(fault.code)): \(fault.message)"
                }
            }
        }
    }
}

extension LocalSendLoopback {
    var sender: LocalSendSender { LocalSendSender(port: port) }
}

/// A device that answers as a test says.
struct ScriptedDevice: Sendable {
    struct Request: Sendable {
        var path: String
        var body: String
        /// How often this very path was asked before.
        var repetitions: Int
    }

    /// A status, and the text of the answer; 0 breaks the connection off.
    typealias Answer = (Int, String)

    /// The requests in order, without their tokens.
    let asked = Recorder<String>()
    private let counts = Counts()
    private let answer: @Sendable (Request) -> Answer

    private final class Counts: Sendable {
        let paths = Mutex<[String: Int]>([:])
    }

    /// - Parameter answer: to everything but the question, which is accepted by default.
    init(_ answer: @escaping @Sendable (Request) -> Answer) { self.answer = answer }

    /// Accepts some files.
    static func accepting(_ ids: String...) -> Answer {
        (200, #"{"sessionId":"s/1","files":{"# + ids.map { #""\#($0)":"t&\#($0)""# }.joined(separator: ",") + "}}")
    }

    func run<Result: Sendable>(_ body: @Sendable (LocalSendSender) async throws -> Result) async throws -> Result {
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture { try HTTPServer.configure(channel) }
            }
        let port = try #require(listener.channel.localAddress?.port)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: disk) {
                try await listener.executeThenClose { connections in
                    try await withThrowingDiscardingTaskGroup { tasks in
                        for try await connection in connections { tasks.addTask { await serve(connection) } }
                    }
                }
            }
            defer { group.cancelAll() }
            return try await body(LocalSendSender(port: port))
        }
    }

    private func serve(_ connection: HTTPServer.Connection) async {
        await HTTPServer.serve(
            connection, idle: .seconds(60), silence: .seconds(60), interim: .seconds(60), lingering: .milliseconds(100)
        ) { exchange in
            let path = String(exchange.head.uri.dropFirst(LocalSendDialect.prefix.count))
            var body = ByteBuffer()
            while var bytes = try await exchange.nextBytes() { body.writeBuffer(&bytes) }
            let repetitions = counts.paths.withLock { paths in
                paths[path, default: 0] += 1
                return (paths[path] ?? 1) - 1
            }
            let request = Request(path: path, body: String(buffer: body), repetitions: repetitions)
            asked.record(path)
            let (status, text) = answer(request)
            guard status > 0 else { return exchange.breakingOff() }
            try await exchange.respond(
                HTTPResponseStatus(statusCode: status), contentType: nil, body: ByteBuffer(string: text))
        }
    }
}
