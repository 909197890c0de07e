import Foundation
import Glibc
import HTTPChannel
import NIOCore
import NIOHTTP1
import WebPages

extension DeskServer {
    private struct Ticket: Encodable {
        var sending: String
    }

    func beginSending(_ exchange: HTTPExchange) async throws {
        guard let wanted = try await document(BrowserSending.Wanted.self, of: exchange, upTo: DeskVerbs.bytes) else {
            return
        }
        guard wanted.to != "", wanted.activity != "", !wanted.items.isEmpty, wanted.items.count <= BrowserSending.items
        else {
            return try await exchange.refuse(.badRequest, "1 to \(BrowserSending.items) items go to a peer")
        }
        guard let sending = try sendings.begin(wanted) else {
            return try await exchange.refuse(.tooManyRequests, "too many sendings are under way")
        }
        try await exchange.respond(.created, json: Ticket(sending: sending.name))
    }

    /// Lists the activities for the items of a sending that has not begun.
    func listActivities(_ exchange: HTTPExchange, _ name: String) async throws {
        guard let sending = sendings[name] else { return try await exchange.refuseUnknown() }
        try await stream(exchange) { lines in await sending.listActivities { try await lines.add($0) } }
    }

    private struct WantedLine: DeskLine {
        var event = "wanted"
        var item: Int
    }

    /// Sends, and tells the window about it. The sending ends with this stream.
    func followSending(_ exchange: HTTPExchange, _ name: String) async throws {
        guard let sending = sendings.follow(name) else { return try await exchange.refuseUnknown() }
        let hasBegun = try await stream(exchange) { [sendings] lines in
            defer { sendings.end(sending) }
            return await sending.run { bytes in
                try await lines.add(bytes)
            } isWanted: { number in
                try? await lines.add(WantedLine(item: number))
            }
        }
        if !hasBegun { sendings.end(sending) }
    }

    func cancelSending(_ exchange: HTTPExchange, _ name: String) async throws {
        guard let sending = sendings[name] else { return try await exchange.refuseUnknown() }
        sendings.end(sending)
        sending.cancel()
        try await exchange.respond(.noContent, contentType: nil, body: ByteBuffer())
    }

    /// Hands the bytes of an item to the program that sends it.
    func takeItem(_ exchange: HTTPExchange, _ name: String, _ item: String) async throws {
        guard let number = Int(item), let pipe = try await pipe(of: name, number) else {
            return try await exchange.refuse(.conflict, "this item is not wanted now")
        }
        defer { close(pipe) }
        try await exchange.inviteBody()
        while let bytes = try await exchange.nextBytes() {
            guard await PipeWriting.write(bytes, to: pipe) else {
                return try await exchange.refuse(.gone, "the sending has ended")
            }
        }
        try await exchange.respond(.ok, json: [String: String]())
    }

    /// The pipe for the bytes of an item, as soon as the program reads there; nil if it does not ask for them.
    private func pipe(of name: String, _ number: Int) async throws -> Int32? {
        while let sending = sendings[name], sending.asks(for: number) {
            if let pipe = sending.pipe(for: number) { return pipe }
            try await Task.sleep(for: .milliseconds(5))
        }
        return nil
    }
}

/// Writing into a pipe without a thread that waits.
private enum PipeWriting {
    /// - Returns: false if the reading end is closed.
    static func write(_ bytes: ByteBuffer, to pipe: Int32) async -> Bool {
        var rest = bytes
        while rest.readableBytes > 0 {
            let count = rest.withUnsafeReadableBytes { Glibc.write(pipe, $0.baseAddress, $0.count) }
            if count > 0 {
                rest.moveReaderIndex(forwardBy: count)
            } else if errno == EAGAIN {
                do { try await Task.sleep(for: .milliseconds(2)) } catch { return false }
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }
}
