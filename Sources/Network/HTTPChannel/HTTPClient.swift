package import NIOCore
package import NIOHTTP1

/// An answer to a request.
package struct HTTPAnswer: Sendable {
    package var status: HTTPResponseStatus
    package var headers: HTTPHeaders
    /// The whole of it, but for what a `BodyReader` has read.
    package var body: ByteBuffer
}

/// The client's side of HTTP/1.1 on one channel that is already secured: one exchange at a time. Used by one task.
///
/// No redirects, no proxies, no retries: what an answer means is the dialect's to say (security rule 12).
package final class HTTPClient {
    /// Gets the body of an answer with status 200 as it comes.
    package typealias BodyReader = (ByteBuffer) throws -> Void

    /// A channel after `configure`.
    package struct Connection: Sendable {
        let channel: NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>
        let watch: SilenceWatch
        let answers: AnswerWatch
        let passage: BodyPassage?

        /// The channel underneath.
        package var channelBelow: any Channel { channel.channel }

        /// Ends a connection that is not to be used. Each must be run or closed.
        package func close() {
            channel.channel.close(promise: nil)
        }
    }

    private struct Timeout {
        var patience: Duration
        var maximum: Duration?
    }

    private var parts: NIOAsyncChannelInboundStream<HTTPClientResponsePart>.AsyncIterator
    private let connection: Connection

    /// Puts the HTTP handlers on a channel. On its event loop, after the TLS handler, before the first read.
    /// - Parameters:
    ///   - answerLimit: bytes of a body; an answer with more ends the connection.
    ///   - passage: a way past the channel for long bodies, where there is one.
    ///   - watchInterval: how often it is looked whether the other side has been silent for too long.
    package static func configure(
        _ channel: any Channel,
        answerLimit: Int,
        passage: BodyPassage? = nil,
        watchInterval: TimeAmount = .seconds(1)
    ) throws -> Connection {
        let watch = SilenceWatch(interval: watchInterval)
        let answers = AnswerWatch(limit: answerLimit, watch: watch)
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandlers([
            watch,
            HTTPRequestEncoder(),
            ByteToMessageHandler(
                HTTPResponseDecoder(
                    informationalResponseStrategy: .forward, limitConfiguration: HTTPLimits.decoder),
                maximumBufferSize: HTTPLimits.unparsedBytes
            ),
            answers,
        ])
        let wrapped = try NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>(
            wrappingChannelSynchronously: channel,
            // In parts of a body, as the server has it.
            configuration: .init(backPressureStrategy: .init(lowWatermark: 2, highWatermark: 4))
        )
        wrapped.keepUntilClosed()
        return Connection(channel: wrapped, watch: watch, answers: answers, passage: passage)
    }

    /// Calls `body` with a client for the connection, and closes it afterwards.
    package static func run<Result>(
        _ connection: Connection,
        _ body: (HTTPClient) async throws -> sending Result
    ) async throws -> sending Result {
        try await connection.channel.executeThenClose { inbound, _ in
            try await body(HTTPClient(connection, inbound.makeAsyncIterator()))
        }
    }

    private init(
        _ connection: Connection, _ parts: NIOAsyncChannelInboundStream<HTTPClientResponsePart>.AsyncIterator
    ) {
        self.connection = connection
        self.parts = parts
    }

    /// Sends a request without a body, or with one that is held whole, and waits for the answer.
    ///
    /// - Parameters:
    ///   - patience: how long the other side may take to begin its answer.
    ///   - maximum: the limit if the other side sends interim answers, each of which restarts `patience`. Nil: interim
    ///     answers do not extend the wait.
    /// - Throws: `HTTPFault`, or what `reader` throws: then the connection is of no further use.
    package func exchange(
        _ method: HTTPMethod,
        _ path: String,
        contentType: String = "application/json",
        body: ByteBuffer? = nil,
        patience: Duration,
        maximum: Duration? = nil,
        reader: BodyReader? = nil
    ) async throws -> HTTPAnswer {
        var headers: HTTPHeaders = ["host": Self.host]
        if body != nil { headers.add(name: "content-type", value: contentType) }
        return try await exchange(
            method, path, headers: headers, body: body, patience: patience, maximum: maximum, reader: reader)
    }

    /// The same with headers of the caller's; the length of the body is added to them.
    /// - Throws: as the other.
    package func exchange(
        _ method: HTTPMethod,
        _ path: String,
        headers: HTTPHeaders,
        body: ByteBuffer?,
        patience: Duration,
        maximum: Duration? = nil,
        reader: BodyReader? = nil
    ) async throws -> HTTPAnswer {
        let timeout = Timeout(patience: patience, maximum: maximum)
        var headers = headers
        if let body { headers.add(name: "content-length", value: String(body.readableBytes)) }
        let head = HTTPRequestHead(version: .http1_1, method: method, uri: path, headers: headers)
        var parts: [HTTPClientRequestPart] = [.head(head)]
        if let body { parts.append(.body(.byteBuffer(body))) }
        parts.append(.end(nil))
        do {
            try await isWritten(write(parts), timeout)
        } catch let fault as HTTPFault {
            return try await earlyAnswer(after: fault, timeout, reader)
        }
        return try await answer(timeout, reader)
    }

    /// Sends a request whose body is produced piece by piece, and waits for the answer.
    ///
    /// - Parameters:
    ///   - patience: how long the other side may take to accept a piece of the body, and then to begin its answer.
    ///   - maximum: as for `exchange`, for each piece and for the answer.
    ///   - next: the next piece, nil at the end. Not called again once the other side has answered.
    /// - Returns: the answer, which may have come before the end of the body: then the connection is of no further use.
    /// - Throws: `HTTPFault`, or what `next` or `reader` throws: then the connection is of no further use.
    package func upload(
        _ path: String,
        contentType: String,
        patience: Duration,
        maximum: Duration? = nil,
        reader: BodyReader? = nil,
        next: () async throws -> ByteBuffer?
    ) async throws -> HTTPAnswer {
        let headers: HTTPHeaders = ["host": Self.host, "content-type": contentType]
        return try await upload(
            path, headers: headers, patience: patience, maximum: maximum, reader: reader, next: next)
    }

    /// The same with headers of the caller's; that the body is chunked is added to them.
    /// - Throws: as the other.
    package func upload(
        _ path: String,
        headers: HTTPHeaders,
        patience: Duration,
        maximum: Duration? = nil,
        reader: BodyReader? = nil,
        next: () async throws -> ByteBuffer?
    ) async throws -> HTTPAnswer {
        let timeout = Timeout(patience: patience, maximum: maximum)
        var headers = headers
        headers.add(name: "transfer-encoding", value: "chunked")
        do {
            let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: path, headers: headers)
            // While one piece is on its way and one waits behind it, so that the event loop need not wait for this task,
            // the next is produced, and no more: a writer that is always ahead of the event loop would keep it from
            // looking whether an answer has come.
            var leaving = write([.head(head)])
            var waiting = leaving
            var pieces = 0
            while !connection.answers.hasAnswer, let piece = try await next() {
                try await isWritten(leaving, timeout)
                leaving = waiting
                waiting = write([.body(.byteBuffer(piece))])
                pieces += 1
                guard pieces % Self.piecesBeforePassage == 0, let passage = connection.passage else { continue }
                try await isWritten(waiting, timeout)
                guard let rest = try await pass(passage, timeout, next: next) else { break }
                waiting = write([.body(.byteBuffer(rest))])
                leaving = waiting
            }
            try await isWritten(waiting, timeout)
            if !connection.answers.hasAnswer { try await isWritten(write([.end(nil)]), timeout) }
        } catch let fault as HTTPFault {
            return try await earlyAnswer(after: fault, timeout, reader)
        }
        return try await answer(timeout, reader)
    }

    /// Reads the answer that the other side may have sent before it closed: it says more than `fault`.
    private func earlyAnswer(
        after fault: HTTPFault, _ timeout: Timeout, _ reader: BodyReader?
    ) async throws -> HTTPAnswer {
        guard let early = try? await answer(timeout, reader) else { throw fault }
        return early
    }

    /// Sends pieces past the channel, as long as that goes.
    /// - Returns: a piece that was not sent; nil where there is none, at the end of the body or because an answer has come.
    private func pass(
        _ passage: BodyPassage, _ timeout: Timeout, next: () async throws -> ByteBuffer?
    ) async throws -> ByteBuffer? {
        let open = await passage.open()
        var turns = 0
        while !connection.answers.hasAnswer, let piece = try await next() {
            guard let open else { return piece }
            // An empty chunk would be the end.
            guard piece.readableBytes > 0 else { continue }
            expect(timeout)
            defer { connection.watch.rest() }
            let outcome = await withTaskCancellationHandler {
                open(HTTPChunk.around(piece))
            } onCancel: { [connection] in
                connection.close()
            }
            switch outcome {
            case .sent: break
            case .left: try await isWritten(passage.close(), timeout)
            case .over: return piece
            }
            turns += 1
            // Others wait for a thread.
            if turns % 16 == 0 { await Task.yield() }
        }
        return nil
    }

    private func write(_ parts: [HTTPClientRequestPart]) -> EventLoopFuture<Void> {
        let channel = connection.channel.channel
        var written = channel.eventLoop.makeSucceededVoidFuture()
        for part in parts { written = channel.write(part) }
        channel.flush()
        return written
    }

    private func expect(_ timeout: Timeout) {
        connection.watch.expect(within: timeout.patience, atMost: timeout.maximum)
    }

    private func isWritten(_ written: EventLoopFuture<Void>, _ timeout: Timeout) async throws {
        expect(timeout)
        defer { connection.watch.rest() }
        do {
            try await withTaskCancellationHandler {
                try await written.get()
            } onCancel: { [connection] in
                connection.close()
            }
        } catch {
            try Task.checkCancellation()
            throw connection.watch.expired ? HTTPFault.silence : HTTPFault.closed
        }
    }

    private func answer(_ timeout: Timeout, _ reader: BodyReader?) async throws -> HTTPAnswer {
        expect(timeout)
        defer { connection.watch.rest() }
        guard case .head(let head) = try await nextPart() else { throw Self.disorder }
        connection.watch.expect(within: timeout.patience)
        var answer = HTTPAnswer(status: head.status, headers: head.headers, body: ByteBuffer())
        var unhurried = 0
        while true {
            switch try await nextPart() {
            case .body(var bytes):
                unhurried += bytes.readableBytes
                if unhurried >= Self.bytesInPatience {
                    connection.watch.expect(within: timeout.patience)
                    unhurried = 0
                }
                if let reader, head.status == .ok {
                    try reader(bytes)
                } else {
                    answer.body.writeBuffer(&bytes)
                }
            case .end:
                connection.answers.taken()
                return answer
            case .head:
                throw Self.disorder
            }
        }
    }

    private func nextPart() async throws -> HTTPClientResponsePart {
        let part: HTTPClientResponsePart?
        do {
            part = try await parts.next()
        } catch let error as HTTPFault {
            throw error
        } catch  where connection.watch.expired {
            throw HTTPFault.silence
        } catch  where error is HTTPParserError || error is ByteToMessageDecoderError.PayloadTooLargeError {
            throw HTTPFault.malformed("the answer is not HTTP: \(error)")
        } catch {
            // TCP or TLS cut the connection off.
            throw HTTPFault.closed
        }
        try Task.checkCancellation()
        guard let part else { throw connection.watch.expired ? HTTPFault.silence : HTTPFault.closed }
        return part
    }

    private static let disorder = HTTPFault.malformed("an answer began inside another")

    /// Of the body of an answer, so much has to come for the other side not to count as silent: with less, it could have
    /// us wait for a day.
    private static let bytesInPatience = 1 << 20

    /// Pieces of a body after which it is worth going past the channel: short bodies have ended before.
    private static let piecesBeforePassage = 2

    /// Names nothing: a peer is its key.
    private static let host = "waft"
}
