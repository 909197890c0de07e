import Foundation
import HTTPChannel
import Lines
import NIOCore
import NIOHTTP1
import Operations
import QRCodes
import Synchronization
import WebPages

extension DeskServer {
    /// The last line of a stream.
    struct EndLine: DeskLine {
        var event = "end"
        var exit: Int32
    }

    static let lines = "application/x-ndjson"

    /// Makes a call, and sends its lines as they come.
    func make(_ call: DeskCall, _ exchange: HTTPExchange) async throws {
        guard let body = try await document(of: exchange, upTo: DeskCall.bytes) else { return }
        guard let work = try? call.read(body) else {
            return try await exchange.refuse(.badRequest, "the request has another form")
        }
        try await stream(exchange) { [host, questions] lines in
            try await work(DeskWork(host: host, questions: questions, lines: lines))
        }
    }

    /// Sends the lines of a call, its failure, and `end`: as the answer, or by the stream of the window that the query names.
    /// - Returns: false if this has refused the request.
    @discardableResult
    func stream(
        _ exchange: HTTPExchange, _ work: @escaping @Sendable (DeskLines) async throws -> WaftExit
    ) async throws -> Bool {
        let whole: @Sendable (DeskLines) async -> Void = { lines in
            let exit: WaftExit
            do {
                exit = try await work(lines)
            } catch let error as WaftError {
                exit = error.code
                try? await lines.add(error.line())
            } catch {
                // The window is gone, or has cancelled the call.
                exit = .interrupted
            }
            try? await lines.add(EndLine(exit: exit.rawValue))
        }
        let query = RequestTarget(exchange.head.uri)
        guard let name = query["window"] else {
            try await host.windows.counting {
                try await exchange.respond(.ok, contentType: Self.lines) { send in
                    await withTaskExecutorPreference(Waft.executor) { await whole(DeskLines(send)) }
                }
            }
            return true
        }
        guard let window = host.windows[name], let call = query["call"], (1...16).contains(call.utf8.count),
            call.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) })
        else {
            try await exchange.refuse(.notFound, "there is no such window")
            return false
        }
        guard window.begin(call, whole) else {
            try await exchange.refuse(.tooManyRequests, "too many calls are under way")
            return false
        }
        try await exchange.respond(.accepted, contentType: nil, body: ByteBuffer())
        return true
    }

    private struct WindowLine: DeskLine {
        var window: String
    }

    /// The stream of a window. Its calls end with it.
    func openWindow(_ exchange: HTTPExchange, _ pass: DeskDoor.Pass) async throws {
        try await exchange.respond(.ok, contentType: Self.lines) { [host] send in
            let window = DeskWindow(previews: pass.previews, send)
            try? await host.windows.keeping(window) {
                try await send(WindowLine(window: window.name).bytes)
                try await Task.sleep(for: .seconds(100_000_000))
            }
        }
    }

    func cancelCall(_ exchange: HTTPExchange, _ window: String, _ call: String) async throws {
        guard host.windows[window]?.cancel(call) == true else { return try await exchange.refuseUnknown() }
        try await exchange.respond(.noContent, contentType: nil, body: ByteBuffer())
    }

    private struct Answer: Decodable {
        var answer: String
    }

    /// Hands an answer to the call that asked.
    func answerCall(_ exchange: HTTPExchange, _ name: String) async throws {
        guard let given = try await document(Answer.self, of: exchange, upTo: 4 << 10) else { return }
        guard questions.answer(name, given.answer) else { return try await exchange.refuseUnknown() }
        try await exchange.respond(.noContent, contentType: nil, body: ByteBuffer())
    }

    private struct Coding: Decodable {
        var text: String
    }

    private struct Code: Encodable {
        var size: Int
        /// A row of modules: `1` is dark.
        var rows: [String]
    }

    /// Makes a QR code.
    func makeCode(_ exchange: HTTPExchange) async throws {
        guard let wanted = try await document(Coding.self, of: exchange, upTo: 4 << 10) else { return }
        guard let code = QRCode(wanted.text) else {
            return try await exchange.refuse(.badRequest, "no QR code has this text")
        }
        let rows = (0..<code.width).map { y in
            String((0..<code.width).map { x -> Character in code.isDark(x, y) ? "1" : "0" })
        }
        try await exchange.respond(.ok, json: Code(size: code.width, rows: rows))
    }
}

/// The questions of calls, which their windows answer.
final class DeskQuestions: Sendable {
    private let calls = Mutex<[String: AsyncStream<String>.Continuation]>([:])

    /// The first line of a call that asks.
    private struct BegunLine: DeskLine {
        var event = "begun"
        var call: String
    }

    /// Lets a call ask while it works. Its window hears the name for the answers first.
    func asking(
        _ desk: DeskWork, _ work: (AsyncStream<String>) async throws -> WaftExit
    ) async throws -> WaftExit {
        let (answers, feed) = AsyncStream<String>.makeStream(bufferingPolicy: .bufferingOldest(16))
        let name = WebSecret.make()
        calls.withLock { $0[name] = feed }
        defer { calls.withLock { $0.removeValue(forKey: name) }?.finish() }
        try await desk.lines.add(BegunLine(call: name))
        return try await work(answers)
    }

    /// - Returns: false if there is no such call.
    func answer(_ name: String, _ text: String) -> Bool {
        calls.withLock { calls in
            guard let call = calls[name] else { return false }
            call.yield(text)
            return true
        }
    }
}
