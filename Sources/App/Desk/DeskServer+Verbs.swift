import Foundation
import HTTPChannel
import NIOCore
import NIOHTTP1
import Sharing
import WebPages

extension DeskServer {
    /// The last line of a stream.
    struct EndLine: Encodable {
        var event = "end"
        var exit: Int
        var errors: String

        init(_ end: DeskProgram.End) { (exit, errors) = (end.exit, end.errors) }

        var bytes: ByteBuffer {
            get throws { ByteBuffer(bytes: try JSONEncoder().encode(self) + Data("\n".utf8)) }
        }
    }

    static let lines = "application/x-ndjson"

    /// Runs a verb, and sends its lines as they come.
    func runVerb(_ exchange: HTTPExchange) async throws {
        guard let call = try await document(VerbCall.self, of: exchange, upTo: DeskVerbs.bytes) else { return }
        if let refusal = DeskVerbs.refusal(call.words) { return try await exchange.refuse(.forbidden, refusal) }
        // The option in front of a `--`, behind which it would be an item.
        let place = call.words.firstIndex(of: "--") ?? call.words.endIndex
        let words = call.words[..<place] + ["--json"] + call.words[place...]
        try await host.windows.counting {
            try await exchange.respond(.ok, contentType: Self.lines) { [host] send in
                let end = await host.program.run(Array(words), input: call.input) { bytes in
                    try await send(ByteBuffer(bytes: bytes))
                }
                try? await send(EndLine(end).bytes)
            }
        }
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
        let end = await host.program.run(["unlock", "--passphrase-fd", "0"], input: wanted.passphrase + "\n") { _ in }
        try await exchange.respond(
            .ok, json: Result(exit: end.exit, message: end.exit == 0 ? "" : PathText.printable(end.errors)))
    }
}
