import Foundation
package import HTTPChannel
import NIOCore
package import NIOHTTP1
import Sharing

extension HTTPExchange {
    package func respond(_ status: HTTPResponseStatus, html: String) async throws {
        try await respond(status, contentType: "text/html; charset=utf-8", body: ByteBuffer(string: html))
    }

    /// An answer for people with a program; ends the connection if the body of the request was not read.
    package func respond(_ status: HTTPResponseStatus, line: String, closing: Bool = false) async throws {
        let body = ByteBuffer(string: line.hasSuffix("\n") ? line : line + "\n")
        let type = "text/plain; charset=utf-8"
        if closing {
            try await respondAndClose(status, contentType: type, body: body)
        } else {
            try await respond(status, contentType: type, body: body)
        }
    }

    package func respond(_ status: HTTPResponseStatus, json: some Encodable) async throws {
        try await respond(status, body: ByteBuffer(bytes: try JSONEncoder().encode(json)))
    }

    /// Refuses a request, and ends the connection: its body has not been read.
    package func refuse(_ status: HTTPResponseStatus, _ message: String) async throws {
        let body = ByteBuffer(bytes: try JSONEncoder().encode(Message(message: message)))
        try await respondAndClose(status, body: body)
    }

    /// Answers 404: the path is unknown, or is a secret.
    package func refuseUnknown() async throws {
        try await respondAndClose(.notFound, contentType: "text/plain", body: ByteBuffer(string: "not here\n"))
    }

    /// Answers 405: the path is there, for other methods.
    package func refuse(allowing methods: String) async throws {
        answerHeaders.add(name: "allow", value: methods)
        try await respond(.methodNotAllowed, line: "this is not asked for with \(head.method.rawValue)", closing: true)
    }

    /// Answers with a file of the page.
    package func respond(static bytes: [UInt8], _ type: String) async throws {
        answerHeaders.replaceOrAdd(name: "cache-control", value: "no-cache")
        try await respond(.ok, contentType: type, body: ByteBuffer(bytes: bytes))
    }

    /// Sets the headers of a download, checks the conditions of the client, and narrows the download to the range that
    /// it asks for (RFC 9110, sections 13 and 14).
    /// - Parameter number: of the item.
    /// - Returns: the status and the bytes of the answer, which the caller sends; nil if this has answered: the client has
    ///   this state, or wants another one, or the range is beyond the end.
    package func prepare(
        _ download: FileDownload, number: Int
    ) async throws -> (status: HTTPResponseStatus, length: UInt64)? {
        let tag = download.tag(number)
        answerHeaders.add(name: "accept-ranges", value: "bytes")
        answerHeaders.add(name: "etag", value: tag)
        if let date = download.date { answerHeaders.add(name: "last-modified", value: date) }
        switch Precondition(head.headers, tag: tag, seconds: download.entry.modified?.seconds) {
        case .holds: break
        case .unchanged:
            try await respond(.notModified, contentType: nil, body: ByteBuffer())
            return nil
        case .fails:
            try await respond(.preconditionFailed, line: "the file is not in the state that was asked for")
            return nil
        }
        // Ranges are for GET only.
        var range = head.method == .GET ? ByteRange(head.headers.first(name: "range"), size: download.size) : .whole
        if let condition = head.headers.first(name: "if-range"), condition != tag, condition != download.date {
            range = .whole
        }
        switch range {
        case .whole: return (.ok, download.size)
        case .part(let start, let end):
            try download.narrow(to: start, end)
            answerHeaders.add(name: "content-range", value: "bytes \(start)-\(end - 1)/\(download.size)")
            return (.partialContent, end - start)
        case .unsatisfiable:
            answerHeaders.add(name: "content-range", value: "bytes */\(download.size)")
            try await respond(.rangeNotSatisfiable, line: "the file has \(download.size) bytes")
            return nil
        }
    }

    /// The bytes of the body as the client says; nil for a body in chunks.
    package var announcedBytes: UInt64? { head.headers.first(name: "content-length").flatMap { UInt64($0) } }
}

/// The body of a refusal.
private struct Message: Encodable {
    var message: String
}

/// The part of a file that a client asks for (RFC 9110, section 14).
package enum ByteRange: Sendable, Equatable {
    /// No range, several, or one that cannot be read: the client gets all of it.
    case whole
    /// The bytes from `start` to `end`, which is not a part of it.
    case part(start: UInt64, end: UInt64)
    case unsatisfiable

    /// - Parameters:
    ///   - header: the value of `Range`.
    ///   - size: the bytes of the file.
    package init(_ header: String?, size: UInt64) {
        self = .whole
        guard let header, header.lowercased().hasPrefix("bytes=") else { return }
        let sides = header.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
        guard sides.count == 2, sides.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }) else { return }
        switch (sides[0].isEmpty, sides[1].isEmpty) {
        case (true, true): return
        case (true, false):
            let count = UInt64(sides[1]) ?? .max
            self = count == 0 || size == 0 ? .unsatisfiable : .part(start: size - min(count, size), end: size)
        case (false, _):
            let start = UInt64(sides[0]) ?? .max
            let last = sides[1].isEmpty ? .max : UInt64(sides[1]) ?? .max
            guard start <= last else { return }
            self = start < size ? .part(start: start, end: last < size ? last + 1 : size) : .unsatisfiable
        }
    }
}

/// The answer to the conditions of a GET or HEAD (RFC 9110, section 13).
package enum Precondition: Sendable, Equatable {
    case holds
    /// The client has this state.
    case unchanged
    /// The client wants another state.
    case fails

    /// - Parameters:
    ///   - tag: the entity tag of the present state; a strong one.
    ///   - seconds: its time of change; nil if none is known.
    package init(_ headers: HTTPHeaders, tag: String, seconds: Int64?) {
        self = Self.fails(headers, tag, seconds) ? .fails : Self.hasState(headers, tag, seconds) ? .unchanged : .holds
    }

    private static func fails(_ headers: HTTPHeaders, _ tag: String, _ seconds: Int64?) -> Bool {
        let tags = headers[canonicalForm: "if-match"]
        guard tags.isEmpty else { return !tags.contains { $0 == "*" || $0 == tag } }
        guard let seconds, let limit = date("if-unmodified-since", headers) else { return false }
        return seconds > limit
    }

    private static func hasState(_ headers: HTTPHeaders, _ tag: String, _ seconds: Int64?) -> Bool {
        let tags = headers[canonicalForm: "if-none-match"]
        guard tags.isEmpty else { return tags.contains { $0 == "*" || $0 == tag || $0 == "W/" + tag } }
        guard let seconds, let limit = date("if-modified-since", headers) else { return false }
        return seconds <= limit
    }

    private static func date(_ name: String, _ headers: HTTPHeaders) -> Int64? {
        headers.first(name: name).flatMap(HTTPDate.seconds)
    }
}
