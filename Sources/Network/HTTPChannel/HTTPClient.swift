import NIOConcurrencyHelpers
package import NIOCore
package import NIOHTTP1
package import SecureTransport

/// An answer to a request.
package struct HTTPAnswer: Sendable {
    package var status: HTTPResponseStatus
    package var headers: HTTPHeaders
    /// The whole body, except the bytes that a `BodyReader` has read.
    package var body: ByteBuffer
}

/// The client's side of HTTP/1.1 on one channel that is already secured: one exchange at a time. Used by one task.
///
/// No redirects, no proxies, no retries: the dialect decides what an answer means (security rule 12).
package final class HTTPClient {
    /// Receives the body of an answer with status 200 as it arrives.
    package typealias BodyReader = (ByteBuffer) throws -> Void

    /// A channel after `configure`.
    package struct Connection: Sendable {
        let channel: NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>
        let watch: SilenceWatch
        let answers: AnswerWatch
        let exit: NIOLoopBound<ProtocolSwitch>

        /// The channel underneath.
        package var channelBelow: any Channel { channel.channel }

        /// Closes a connection that will not be used. Each connection must be run or closed.
        package func close() {
            channel.channel.close(promise: nil)
        }
    }

    private struct AnswerTime {
        var timeout: Duration
        var maximum: Duration?
    }

    private var parts: NIOAsyncChannelInboundStream<HTTPClientResponsePart>.AsyncIterator
    private let connection: Connection

    /// Adds the HTTP handlers to a channel. Called on its event loop, after the TLS handler, before the first read.
    /// - Parameters:
    ///   - answerLimit: bytes of a body; a longer answer ends the connection.
    ///   - watchInterval: how often the watch checks whether the other side has been silent for too long.
    package static func configure(
        _ channel: any Channel,
        answerLimit: Int,
        watchInterval: TimeAmount = .seconds(1)
    ) throws -> Connection {
        let watch = SilenceWatch(interval: watchInterval)
        let answers = AnswerWatch(limit: answerLimit, watch: watch)
        let exit = ProtocolSwitch(
            ByteToMessageHandler(
                HTTPResponseDecoder(
                    leftOverBytesStrategy: .fireError, informationalResponseStrategy: .forward,
                    limitConfiguration: HTTPLimits.decoder),
                maximumBufferSize: HTTPLimits.unparsedBytes
            ))
        try channel.pipeline.syncOperations.addHandlers(
            watch, HTTPRequestEncoder(), exit.below, exit.decoder, exit.above, answers)
        let wrapped = try NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>(
            wrappingChannelSynchronously: channel,
            // Counted in parts of a body, as in the server.
            configuration: .init(backPressureStrategy: .init(lowWatermark: 2, highWatermark: 4))
        )
        wrapped.keepUntilClosed()
        return Connection(
            channel: wrapped, watch: watch, answers: answers, exit: NIOLoopBound(exit, eventLoop: channel.eventLoop))
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

    /// Sends a request without a body, or with a body that is in memory, and waits for the answer.
    ///
    /// - Parameters:
    ///   - timeout: how long the other side may take to begin its answer.
    ///   - maximum: the limit if the other side sends interim answers, each of which restarts `timeout`. Nil: interim
    ///     answers do not extend the wait.
    /// - Throws: `HTTPError`, or the error of `reader`: then the connection is of no further use.
    package func exchange(
        _ method: HTTPMethod,
        _ path: String,
        contentType: String = "application/json",
        body: ByteBuffer? = nil,
        timeout: Duration,
        maximum: Duration? = nil,
        reader: BodyReader? = nil
    ) async throws -> HTTPAnswer {
        var headers: HTTPHeaders = ["host": Self.host]
        if body != nil { headers.add(name: "content-type", value: contentType) }
        return try await exchange(
            method, path, headers: headers, body: body, timeout: timeout, maximum: maximum, reader: reader)
    }

    /// The same with the caller's headers, to which the length of the body is added.
    /// - Throws: as the other.
    package func exchange(
        _ method: HTTPMethod,
        _ path: String,
        headers: HTTPHeaders,
        body: ByteBuffer?,
        timeout: Duration,
        maximum: Duration? = nil,
        reader: BodyReader? = nil
    ) async throws -> HTTPAnswer {
        let time = AnswerTime(timeout: timeout, maximum: maximum)
        var headers = headers
        if let body { headers.add(name: "content-length", value: String(body.readableBytes)) }
        let head = HTTPRequestHead(version: .http1_1, method: method, uri: path, headers: headers)
        var parts: [HTTPClientRequestPart] = [.head(head)]
        if let body { parts.append(.body(.byteBuffer(body))) }
        parts.append(.end(nil))
        do {
            try await isWritten(write(parts), time)
        } catch let fault as HTTPError {
            return try await earlyAnswer(after: fault, time, reader)
        }
        return try await answer(time, reader)
    }

    /// The answer to a request for another protocol.
    package enum Switching {
        /// The connection, which the caller closes. The client is of no further use.
        case switched(SecureStream)
        case refused(HTTPAnswer)
    }

    /// Asks for another protocol (RFC 9110, section 7.8), and leaves HTTP and the channel if the other side agrees.
    ///
    /// - Parameters:
    ///   - fields: of the request, besides those that ask for the protocol.
    ///   - timeout: how long the other side may take to begin its answer.
    /// - Throws: `HTTPError`.
    package func switchProtocols(
        _ path: String, to name: String, fields: [String: String] = [:], timeout: Duration
    ) async throws -> Switching {
        var headers = HTTPHeaders.switching(to: name)
        for (name, value) in fields { headers.add(name: name, value: value) }
        headers.add(name: "host", value: Self.host)
        let answer = try await exchange(.POST, path, headers: headers, body: ByteBuffer(), timeout: timeout)
        guard answer.status == .switchingProtocols, answer.headers.switchProtocols(to: name) else {
            return .refused(answer)
        }
        let (channel, exit) = (connection.channel.channel, connection.exit)
        do {
            return .switched(try await channel.eventLoop.flatSubmit { exit.value.leave(channel) }.get())
        } catch {
            throw HTTPError.closed
        }
    }

    /// Sends a request whose body is produced piece by piece, and waits for the answer.
    ///
    /// - Parameters:
    ///   - headers: those of the request, to which `transfer-encoding: chunked` or the length is added.
    ///   - length: the bytes of all pieces, if it is known before.
    ///   - timeout: how long the other side may take to accept a piece of the body, and then to begin its answer.
    ///   - maximum: as for `exchange`, for each piece and for the answer.
    ///   - answerWithin: in place of `timeout` for the answer.
    ///   - next: the next piece, nil at the end. Not called again once the other side has answered.
    /// - Returns: the answer, which may have come before the end of the body: then the connection is of no further use.
    /// - Throws: `HTTPError`, or the error of `next`: then the connection is of no further use.
    package func upload(
        _ path: String,
        headers: HTTPHeaders,
        length: UInt64? = nil,
        timeout: Duration,
        maximum: Duration? = nil,
        answerWithin: Duration? = nil,
        next: () async throws -> ByteBuffer?
    ) async throws -> HTTPAnswer {
        let time = AnswerTime(timeout: timeout, maximum: maximum)
        var headers = headers
        if let length {
            headers.add(name: "content-length", value: String(length))
        } else {
            headers.add(name: "transfer-encoding", value: "chunked")
        }
        do {
            let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: path, headers: headers)
            // One piece is on its way and one waits behind it, so that the event loop need not wait for this task. The
            // next piece is produced meanwhile, and no more: a writer that is always ahead would keep the event loop
            // from checking for an answer.
            var leaving = write([.head(head)])
            var waiting = leaving
            while !connection.answers.hasAnswer, let piece = try await next() {
                try await isWritten(leaving, time)
                leaving = waiting
                waiting = write([.body(.byteBuffer(piece))])
            }
            try await isWritten(waiting, time)
            if !connection.answers.hasAnswer { try await isWritten(write([.end(nil)]), time) }
        } catch let fault as HTTPError {
            return try await earlyAnswer(after: fault, time, nil)
        }
        return try await answer(AnswerTime(timeout: answerWithin ?? timeout, maximum: maximum), nil)
    }

    /// Reads the answer that the other side may have sent before it closed: it explains more than `fault`.
    private func earlyAnswer(
        after fault: HTTPError, _ time: AnswerTime, _ reader: BodyReader?
    ) async throws -> HTTPAnswer {
        guard let early = try? await answer(time, reader) else { throw fault }
        return early
    }

    private func write(_ parts: [HTTPClientRequestPart]) -> EventLoopFuture<Void> {
        let channel = connection.channel.channel
        var written = channel.eventLoop.makeSucceededVoidFuture()
        for part in parts { written = channel.write(part) }
        channel.flush()
        return written
    }

    private func expect(_ time: AnswerTime) {
        connection.watch.expect(within: time.timeout, atMost: time.maximum)
    }

    private func isWritten(_ written: EventLoopFuture<Void>, _ time: AnswerTime) async throws {
        expect(time)
        defer { connection.watch.rest() }
        do {
            try await withTaskCancellationHandler {
                try await written.get()
            } onCancel: { [connection] in
                connection.close()
            }
        } catch {
            try Task.checkCancellation()
            throw connection.watch.expired ? HTTPError.silence : HTTPError.closed
        }
    }

    private func answer(_ time: AnswerTime, _ reader: BodyReader?) async throws -> HTTPAnswer {
        expect(time)
        defer { connection.watch.rest() }
        guard case .head(let head) = try await nextPart() else { throw Self.disorder }
        connection.watch.expect(within: time.timeout)
        var answer = HTTPAnswer(status: head.status, headers: head.headers, body: ByteBuffer())
        var unhurried = 0
        while true {
            switch try await nextPart() {
            case .body(var bytes):
                unhurried += bytes.readableBytes
                if unhurried >= Self.bytesInTimeout {
                    connection.watch.expect(within: time.timeout)
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
        } catch let error as HTTPError {
            throw error
        } catch  where connection.watch.expired {
            throw HTTPError.silence
        } catch  where error is HTTPParserError || error is ByteToMessageDecoderError.PayloadTooLargeError {
            throw HTTPError.malformed("the answer is not HTTP: \(error)")
        } catch {
            // TCP or TLS cut the connection off.
            throw HTTPError.closed
        }
        try Task.checkCancellation()
        guard let part else { throw connection.watch.expired ? HTTPError.silence : HTTPError.closed }
        return part
    }

    private static let disorder = HTTPError.malformed("an answer began inside another")

    /// Bytes of an answer's body that must arrive within the limit. With a lower number the other side could make us
    /// wait for a day.
    private static let bytesInTimeout = 1 << 20

    /// Contains no name: a peer is identified by its key.
    private static let host = "waft"
}

/// Passes final answers on, and counts them: the sender of a long body can see at once that an answer has begun.
package final class AnswerWatch: ChannelInboundHandler, Sendable {
    package typealias InboundIn = HTTPClientResponsePart
    package typealias InboundOut = HTTPClientResponsePart

    private struct State {
        var bodyBytes = 0
        var answersWaiting = 0
    }

    private let limit: Int
    private let watch: SilenceWatch
    private let state = NIOLockedValueBox(State())

    init(limit: Int, watch: SilenceWatch) {
        self.limit = limit
        self.watch = watch
    }

    /// Whether the head of a final answer has arrived that the client has not read yet.
    var hasAnswer: Bool { state.withLockedValue { $0.answersWaiting > 0 } }

    /// The answer was taken.
    func taken() {
        state.withLockedValue { $0.answersWaiting -= 1 }
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        switch part {
        case .head(let head) where (100..<200).contains(head.status.code) && head.status != .switchingProtocols:
            // The other side is still working. An informational head comes without an end.
            return watch.signOfLife()
        case .head:
            state.withLockedValue { state in
                state.bodyBytes = 0
                state.answersWaiting += 1
            }
        case .body(let bytes):
            let fits = state.withLockedValue { state in
                state.bodyBytes += bytes.readableBytes
                return state.bodyBytes <= limit
            }
            guard fits else {
                context.fireErrorCaught(HTTPError.tooLarge)
                return context.close(promise: nil)
            }
        case .end:
            break
        }
        context.fireChannelRead(data)
    }
}
