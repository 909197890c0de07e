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
