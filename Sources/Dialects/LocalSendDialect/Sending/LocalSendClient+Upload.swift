import Digests
import Foundation
import HTTPChannel
import NIOCore
import NIOHTTP1
import Sharing

/// How long the other side of a transfer may take.
package struct LocalSendTimes: Sendable {
    /// For the answer to the question.
    package var answer: Duration
    /// For a piece of contents.
    package var silence: Duration
    /// Without progress, in all.
    package var retryFor: Duration

    package init(answer: Duration, silence: Duration, retryFor: Duration) {
        (self.answer, self.silence, self.retryFor) = (answer, silence, retryFor)
    }
}

/// The end of one file's way.
enum UploadAnswer {
    /// - Parameter mayGoOn: whether the connection can be used for another file.
    case taken(Digest, mayGoOn: Bool)
    /// The connection is of no further use.
    case refused(LocalSendRefusal)
}

extension LocalSendClient {
    /// Sends one accepted file.
    ///
    /// - Parameters:
    ///   - ticket: the session and the file's token.
    ///   - moved: called with the bytes of each piece that goes to the connection; an error that it throws ends the sending.
    /// - Throws: `SourceError`, `HTTPError`, `CancellationError`, and errors of `moved`: then the connection is of no further
    ///   use.
    func upload(
        _ file: LocalSendPlan.File, of source: any ItemSource, ticket: (session: String, token: String),
        times: LocalSendTimes, moved: (Int) throws -> Void
    ) async throws -> UploadAnswer {
        let body = try FileBody(file, of: source)
        let path =
            LocalSendDialect.prefix + "upload"
            + Self.query(("sessionId", ticket.session), ("fileId", file.announced.id), ("token", ticket.token))
        let headers: HTTPHeaders = ["host": "waft", "content-type": file.announced.fileType]
        let size = file.announced.size
        // Nobody sends signs of life: a receiver may write and check for as long as the size explains.
        let wait = times.silence + Limits.work(on: size)
        let answer: HTTPAnswer
        if size <= FileBody.pieceBytes {
            let piece = try body.next() ?? ByteBuffer()
            try moved(piece.readableBytes)
            answer = try await http.exchange(.POST, path, headers: headers, body: piece, timeout: wait)
        } else {
            answer = try await http.upload(
                path, headers: headers, length: size, timeout: times.silence, answerWithin: wait
            ) {
                guard let piece = try body.next() else { return nil }
                try moved(piece.readableBytes)
                return piece
            }
        }
        guard (200..<300).contains(answer.status.code) else { return .refused(LocalSendRefusal(answer)) }
        guard let digest = body.digest else {
            throw HTTPError.malformed("the other side thanked for a file before it had all of it")
        }
        let closes = answer.headers[canonicalForm: "connection"].contains { $0.lowercased() == "close" }
        return .taken(digest, mayGoOn: !closes)
    }
}
