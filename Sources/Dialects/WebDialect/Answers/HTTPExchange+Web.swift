import Foundation
import HTTPChannel
import NIOCore
import NIOHTTP1
import Sharing

extension HTTPExchange {
    func respond(_ status: HTTPResponseStatus, html: String) async throws {
        try await respond(status, contentType: "text/html; charset=utf-8", body: ByteBuffer(string: html))
    }

    /// An answer for people with a program; ends the connection if the body of the request was not read.
    func respond(_ status: HTTPResponseStatus, line: String, closing: Bool = false) async throws {
        let body = ByteBuffer(string: line.hasSuffix("\n") ? line : line + "\n")
        let type = "text/plain; charset=utf-8"
        if closing {
            try await respondAndClose(status, contentType: type, body: body)
        } else {
            try await respond(status, contentType: type, body: body)
        }
    }

    func respond(_ status: HTTPResponseStatus, json: some Encodable) async throws {
        try await respond(status, body: ByteBuffer(bytes: try JSONEncoder().encode(json)))
    }

    /// Refuses a request, and ends the connection: its body has not been read.
    func refuse(_ status: HTTPResponseStatus, _ message: String) async throws {
        let body = ByteBuffer(bytes: try JSONEncoder().encode(WebMessage(message: message)))
        try await respondAndClose(status, body: body)
    }

    /// Answers 404: the path is unknown, or is a secret.
    func refuseUnknown() async throws {
        try await respondAndClose(.notFound, contentType: "text/plain", body: ByteBuffer(string: "not here\n"))
    }

    /// Answers with a file of the page.
    func respond(static bytes: [UInt8], _ type: String) async throws {
        answerHeaders.replaceOrAdd(name: "cache-control", value: "no-cache")
        try await respond(.ok, contentType: type, body: ByteBuffer(bytes: bytes))
    }

    /// The bytes of the body as the client says; nil for a body in chunks.
    var announcedBytes: UInt64? { head.headers.first(name: "content-length").flatMap { UInt64($0) } }
}

extension TransferError {
    /// The HTTP status for this fault.
    var webStatus: HTTPResponseStatus {
        switch code {
        case .protocolViolation, .sizeMismatch, .unsafeName: .badRequest
        case .notAsDeclared: .unsupportedMediaType
        case .notAccepted, .cancelled: .forbidden
        case .noRoom: .insufficientStorage
        case .stopping: .serviceUnavailable
        default: .internalServerError
        }
    }
}

extension ItemVerdict {
    /// The HTTP status for an item that is not taken.
    var webStatus: HTTPResponseStatus {
        switch answer {
        case .accepted, .declined: .forbidden
        case .ineligible: .unsupportedMediaType
        case .noRoom: .insufficientStorage
        case .busy: .serviceUnavailable
        case .expired: .requestTimeout
        }
    }

    /// One line for people with a program.
    var webLine: String {
        let words =
            switch answer {
            case .accepted, .declined: "declined"
            case .ineligible: "this machine takes no such items"
            case .noRoom: "there is no room for it"
            case .busy: "there is too much to do here; try again in a moment"
            case .expired: "nobody answered in time"
            }
        return reason.isEmpty ? words : "\(words): \(PathText.printable(reason))"
    }
}
