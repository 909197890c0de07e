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
        defer { if let answers { calls.end(answers.name) } }
        try await host.windows.counting {
            try await exchange.respond(.ok, contentType: Self.lines) { [host] send in
                if let answers { try? await send(BegunLine(call: answers.name).bytes) }
                let input = answers.map { DeskProgram.Input.answers($0.input) } ?? call.input.map { .text($0) }
                let end = await host.program.run(Array(words), input: input) { bytes in
                    try await send(ByteBuffer(bytes: bytes))
                }
                try? await send(EndLine(end).bytes)
            }
        }
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

/// A line of the desk's own in a stream.
protocol DeskLine: Encodable {}

extension DeskLine {
    var bytes: ByteBuffer {
        get throws { ByteBuffer(bytes: try JSONEncoder().encode(self) + Data("\n".utf8)) }
    }
}
