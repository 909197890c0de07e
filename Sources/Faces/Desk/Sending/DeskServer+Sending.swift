import Foundation
import HTTPChannel
import NIOCore
import NIOHTTP1
import Sharing
import WebPages

extension DeskServer {
    private struct Ticket: Encodable {
        var sending: String
    }

    func beginSending(_ exchange: HTTPExchange) async throws {
        guard let wanted = try await document(BrowserSending.Wanted.self, of: exchange, upTo: DeskCall.bytes) else {
            return
        }
        guard wanted.to != "", wanted.group != "", wanted.activity != "",
            (1...BrowserSending.items).contains(wanted.count)
        else {
            return try await exchange.refuse(.badRequest, "1 to \(BrowserSending.items) items go to a peer")
        }
        guard wanted.paths?.allSatisfy({ $0.hasPrefix("/") }) != false else {
            return try await exchange.refuse(.badRequest, "a path is absolute")
        }
        guard let sending = sendings.begin(wanted) else {
            return try await exchange.refuse(.tooManyRequests, "too many sendings are under way")
        }
        try await exchange.respond(.created, json: Ticket(sending: sending.name))
    }

    /// Lists the activities for the items of a sending that has not begun.
    func listActivities(_ exchange: HTTPExchange, _ name: String) async throws {
        guard let sending = sendings[name] else { return try await exchange.refuseUnknown() }
        try await stream(exchange) { lines in try await sending.listActivities(lines) }
    }

    /// Sends, and tells the window about it. The sending ends with this stream.
    func followSending(_ exchange: HTTPExchange, _ name: String) async throws {
        guard let sending = sendings.follow(name) else { return try await exchange.refuseUnknown() }
        let hasBegun = try await stream(exchange) { [sendings] lines in
            defer { sendings.end(sending) }
            return try await sending.run(lines)
        }
        if !hasBegun { sendings.end(sending) }
    }

    func cancelSending(_ exchange: HTTPExchange, _ name: String) async throws {
        guard let sending = sendings[name] else { return try await exchange.refuseUnknown() }
        sendings.end(sending)
        sending.cancel()
        try await exchange.respond(.noContent, contentType: nil, body: ByteBuffer())
    }

    /// Between two looks whether the reader has room again.
    private static let pause: Duration = .milliseconds(2)

    /// Hands the bytes of an item to the sending.
    func takeItem(_ exchange: HTTPExchange, _ name: String, _ item: String) async throws {
        guard let number = Int(item), let bytes = sendings[name]?.take(number) else {
            return try await exchange.refuse(.conflict, "this item is not wanted now")
        }
        defer { bytes.finish(isWhole: false) }
        try await exchange.inviteBody()
        while var piece = try await exchange.nextBytes() {
            while piece.readableBytes > 0 {
                guard let count = piece.withUnsafeReadableBytes({ bytes.write($0) }) else {
                    return try await exchange.refuse(.gone, "the sending has ended")
                }
                piece.moveReaderIndex(forwardBy: count)
                // Without a thread that waits.
                if count == 0 { try await Task.sleep(for: Self.pause) }
            }
        }
        bytes.finish(isWhole: true)
        try await exchange.respond(.ok, json: [String: String]())
    }
}
