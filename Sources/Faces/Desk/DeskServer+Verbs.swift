import Foundation
import HTTPChannel
import NIOCore
import NIOHTTP1
import QRCodes
import Sharing
import WebPages

extension DeskServer {
    /// The last line of a stream.
    struct EndLine: DeskLine {
        var event = "end"
        var exit: Int
        var errors: String

        init(_ end: DeskProgram.End) { (exit, errors) = (end.exit, end.errors) }
    }

    /// The first line of a stream whose verb the window answers.
    private struct BegunLine: DeskLine {
        var event = "begun"
        var call: String
    }

    static let lines = "application/x-ndjson"

    /// Runs a verb, and sends its lines as they come.
    func runVerb(_ exchange: HTTPExchange) async throws {
        guard let call = try await document(VerbCall.self, of: exchange, upTo: DeskVerbs.bytes) else { return }
        if let refusal = DeskVerbs.refusal(call.words) { return try await exchange.refuse(.forbidden, refusal) }
        // The option in front of a `--`, behind which it would be an item.
        let place = call.words.firstIndex(of: "--") ?? call.words.endIndex
        let words = call.words[..<place] + ["--json"] + call.words[place...]
        let answers = call.answers == true ? calls.begin() : nil
        let hasBegun = try await stream(exchange) { [host, calls] lines in
            defer { if let answers { calls.end(answers.name) } }
            if let answers { try? await lines.add(BegunLine(call: answers.name)) }
            let input = answers.map { DeskProgram.Input.answers($0.input) } ?? call.input.map { .text($0) }
            return await host.program.run(Array(words), input: input) { try await lines.add($0) }
        }
        if !hasBegun, let answers { calls.end(answers.name) }
    }

    /// Sends the lines of a call, then `end`: as the answer, or by the stream of the window that the query names.
    /// - Returns: false if this has refused the request.
    @discardableResult
    func stream(
        _ exchange: HTTPExchange, _ work: @escaping @Sendable (DeskLines) async -> DeskProgram.End
    ) async throws -> Bool {
        let whole: @Sendable (DeskLines) async -> Void = { lines in
            let end = await work(lines)
            try? await lines.add(EndLine(end))
        }
        let query = RequestTarget(exchange.head.uri)
        guard let name = query["window"] else {
            try await host.windows.counting {
                try await exchange.respond(.ok, contentType: Self.lines) { send in await whole(DeskLines(send)) }
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
        try await exchange.respond(.accepted, json: [String: String]())
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
        var input: String
    }

    /// Hands an answer to the verb that asked.
    func answerCall(_ exchange: HTTPExchange, _ name: String) async throws {
        guard let answer = try await document(Answer.self, of: exchange, upTo: 4 << 10) else { return }
        guard calls.answer(name, answer.input) else { return try await exchange.refuseUnknown() }
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

    private struct Unlocking: Decodable {
        var passphrase: String
    }

    private struct Result: Encodable {
        var exit: Int
        var message: String
    }

    /// Unlocks with a passphrase, which no argument has.
    func unlock(_ exchange: HTTPExchange) async throws {
        guard let wanted = try await document(Unlocking.self, of: exchange, upTo: 16 << 10) else { return }
        let end = await host.program.run(
            ["unlock", "--passphrase-fd", "0"], input: .text(wanted.passphrase + "\n")
        ) { _ in }
        try await exchange.respond(
            .ok, json: Result(exit: end.exit, message: end.exit == 0 ? "" : PathText.printable(end.errors)))
    }
}
