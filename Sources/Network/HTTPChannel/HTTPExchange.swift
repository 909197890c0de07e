package import NIOCore
package import NIOHTTP1
package import SecureTransport
package import Sharing

/// One request and its answer, on the server's side. Used by one task.
package final class HTTPExchange {
    package let head: HTTPRequestHead
    /// Whether an answer has been sent (an interim one does not count).
    package private(set) var hasAnswered = false
    /// Headers of each answer, besides those of the body.
    package var answerHeaders = HTTPHeaders()

    private let stream: InboundParts
    private let outbound: NIOAsyncChannelOutboundWriter<HTTPServerResponsePart>
    private let channel: any Channel
    private let exit: NIOLoopBound<ProtocolSwitch>
    private let departure: Departure
    private let timeout: Timeouts
    private var bodyEnded = false
    private var hasInvited = false
    private var isInBulk = false
    private var mustLinger = false
    private var mustClose: Bool

    /// The times of `HTTPServer.serve`.
    struct Timeouts {
        var silence: Duration
        var interim: Duration
        var lingering: Duration
    }

    init(
        head: HTTPRequestHead,
        stream: InboundParts,
        outbound: NIOAsyncChannelOutboundWriter<HTTPServerResponsePart>,
        channel: any Channel,
        exit: NIOLoopBound<ProtocolSwitch>,
        departure: Departure,
        timeout: Timeouts
    ) {
        self.head = head
        self.stream = stream
        self.outbound = outbound
        self.channel = channel
        self.exit = exit
        // Behind such a head no further request is read.
        mustClose = head.headers.switchProtocols
        self.departure = departure
        self.timeout = timeout
    }

    /// Ends the connection, from any thread: code that waits for the client learns that the connection is closed, or
    /// that its stream is interrupted.
    package var breakingOff: @Sendable () -> Void {
        { [channel, exit] in channel.eventLoop.execute { exit.value.breakOff(channel) } }
    }

    // MARK: Another protocol

    /// Whether the client asks for another protocol (RFC 9110, section 7.8).
    package func asks(for name: String) -> Bool {
        head.version.minor > 0 && head.headers.switchProtocols(to: name)
    }

    /// Answers `101`, and leaves HTTP and the channel. The request must have no body.
    ///
    /// - Returns: the connection, which the caller closes. This exchange is over.
    /// - Throws: `HTTPError`.
    package func switchProtocols(to name: String) async throws -> SecureStream {
        _ = try await body(upTo: 0)
        hasAnswered = true
        mustClose = true
        let head = HTTPResponseHead(
            version: .http1_1, status: .switchingProtocols, headers: .switching(to: name))
        do {
            return try await channel.eventLoop.flatSubmit { [channel, exit] in
                exit.value.leave(channel, answering: .head(head))
            }.get()
        } catch {
            throw HTTPError.closed
        }
    }

    // MARK: The body

    /// The next bytes of the body, nil at its end.
    /// - Throws: `HTTPError`.
    package func nextBytes() async throws -> ByteBuffer? {
        if bodyEnded { return nil }
        switch try await stream.next(within: timeout.silence) {
        case .body(let bytes):
            return bytes
        case .end:
            bodyEnded = true
            return nil
        case .head:
            throw HTTPError.malformed("a request began inside another")
        case nil:
            mustClose = true
            throw HTTPError.closed
        }
    }

    /// Lets the rest of the body come in larger pieces, unless it is small: for contents that were accepted, as they take more
    /// memory. The connection keeps it until it is closed.
    package func readInBulk() {
        guard !isInBulk, !bodyEnded else { return }
        if let bytes = head.headers.first(name: "content-length").flatMap(Int.init), bytes < Self.pieceBytes { return }
        isInBulk = true
        channel.readInBulk()
    }

    /// The whole body.
    /// - Throws: `HTTPError`; `tooLarge` at the first byte over `limit`.
    package func body(upTo limit: Int) async throws -> ByteBuffer {
        var body = ByteBuffer()
        try await readBody(upTo: limit) { bytes in
            body.writeImmutableBuffer(bytes)
            return true
        }
        return body
    }

    /// Passes the body to `read` as it arrives.
    /// - Parameter read: takes the next bytes; returns whether more are wanted.
    /// - Returns: whether the body was read to its end.
    /// - Throws: `HTTPError`, or the error of `read`; `tooLarge` at the first byte over `limit`.
    @discardableResult
    package func readBody(upTo limit: Int, _ read: (ByteBuffer) throws -> Bool) async throws -> Bool {
        if let announced = head.headers.first(name: "content-length").flatMap(Int.init), announced > limit {
            throw HTTPError.tooLarge
        }
        var count = 0
        while let bytes = try await nextBytes() {
            count += bytes.readableBytes
            if count > limit { throw HTTPError.tooLarge }
            guard try read(bytes) else { return false }
        }
        return true
    }

    /// Invites a client that waits (`Expect: 100-continue`) to send its body. Once, before the body is read.
    package func inviteBody() async throws {
        guard !hasInvited else { return }
        hasInvited = true
        let expected = head.headers[canonicalForm: "expect"]
        guard head.version.minor > 0, expected.contains(where: { $0.lowercased() == "100-continue" }) else { return }
        try await outbound.write(.head(HTTPResponseHead(version: .http1_1, status: .continue)))
    }

    // MARK: The answer

    /// Sends the whole answer.
    package func respond(
        _ status: HTTPResponseStatus,
        contentType: String? = "application/json",
        body: ByteBuffer
    ) async throws {
        var rest = body
        try await respond(status, contentType, length: body.readableBytes) {
            guard head.method != .HEAD else { return nil }
            return rest.readSlice(length: min(Self.pieceBytes, rest.readableBytes)).flatMap {
                $0.readableBytes > 0 ? $0 : nil
            }
        }
    }

    /// Sends an answer whose body is produced while it is sent; chunked if it has more than one piece.
    /// - Parameter next: the next piece of it, nil at the end.
    /// - Throws: also the error of `next`.
    package func respond(
        _ status: HTTPResponseStatus,
        contentType: String? = "application/json",
        next: () throws -> ByteBuffer?
    ) async throws {
        var body = try next() ?? ByteBuffer()
        var second = try next()
        // HTTP/1.0 has no chunks.
        guard head.version.minor > 0, second != nil else {
            while var piece = try second ?? next() {
                second = nil
                body.writeBuffer(&piece)
            }
            return try await respond(status, contentType: contentType, body: body)
        }
        var pieces = [second, body].compactMap { $0 }
        try await respond(status, contentType, length: nil) { try pieces.popLast() ?? next() }
    }

    /// Sends an answer whose body has a known length, and is produced while it is sent. The answer to `HEAD` has no body.
    /// - Parameters:
    ///   - length: bytes of the body.
    ///   - next: the next piece of it, nil at the end; together `length` bytes.
    /// - Throws: also the error of `next`: the connection must end then.
    package func respond(
        _ status: HTTPResponseStatus, contentType: String?, length: UInt64, next: () throws -> ByteBuffer?
    ) async throws {
        try await respond(status, contentType, length: Int(clamping: length)) {
            head.method == .HEAD ? nil : try next()
        }
    }

    /// Sends an answer whose pieces come in their own time, each at once. The task that makes them is cancelled when the
    /// client leaves.
    /// - Parameter make: calls its parameter with each piece, which throws if the client has left.
    package func respond(
        _ status: HTTPResponseStatus, contentType: String,
        streaming make: @escaping @Sendable (@escaping @Sendable (ByteBuffer) async throws -> Void) async -> Void
    ) async throws {
        hasAnswered = true
        mustClose = true
        var headers = answerHeaders
        headers.add(name: "content-type", value: contentType)
        headers.add(name: "transfer-encoding", value: "chunked")
        headers.add(name: "connection", value: "close")
        let (channel, watch, silence) = (self.channel, stream.watch, timeout.silence)
        let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
        try await channel.writeAndFlush(HTTPServerResponsePart.head(head)).get()
        let task = Task {
            await make { piece in
                // A client that takes nothing is closed.
                watch.expect(within: silence)
                defer { watch.rest() }
                try await channel.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(piece))).get()
            }
        }
        departure.whenLeft { task.cancel() }
        defer { departure.whenLeft(nil) }
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        try await channel.writeAndFlush(HTTPServerResponsePart.end(nil)).get()
    }

    /// - Parameter length: bytes of the body; nil if they are not known yet.
    private func respond(
        _ status: HTTPResponseStatus, _ contentType: String?, length: Int?, _ next: () throws -> ByteBuffer?
    ) async throws {
        hasAnswered = true
        var headers = answerHeaders
        if let contentType { headers.add(name: "content-type", value: contentType) }
        if let length {
            headers.add(name: "content-length", value: String(length))
        } else {
            headers.add(name: "transfer-encoding", value: "chunked")
        }
        if mustClose { headers.add(name: "connection", value: "close") }
        let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
        // Straight to the channel, which ignores the cancellation of this task: a receiver that stops can still answer.
        // At the end the kernel has all written bytes: closing afterwards loses nothing.
        stream.watch.expect(within: timeout.silence)
        defer { stream.watch.rest() }
        channel.write(HTTPServerResponsePart.head(head), promise: nil)
        var piece = try next()
        while let now = piece {
            let part = HTTPServerResponsePart.body(.byteBuffer(now))
            piece = try next()
            if piece == nil {
                // Sent together with the end.
                channel.write(part, promise: nil)
            } else {
                try await channel.writeAndFlush(part).get()
                stream.watch.expect(within: timeout.silence)
            }
        }
        try await channel.writeAndFlush(HTTPServerResponsePart.end(nil)).get()
    }

    /// Bytes of an answer that a client must take before it counts as silent.
    private static let pieceBytes = 256 << 10

    /// Answers, possibly before the body has been read to its end, and ends the connection.
    package func respondAndClose(
        _ status: HTTPResponseStatus,
        contentType: String? = "application/json",
        body: ByteBuffer
    ) async throws {
        mustClose = true
        try await respond(status, contentType: contentType, body: body)
        try await linger()
    }

    /// The same with a body that is produced while it is sent.
    /// - Parameter next: the next piece of it, nil at the end.
    package func respondAndClose(
        _ status: HTTPResponseStatus, contentType: String? = "application/json", next: () throws -> ByteBuffer?
    ) async throws {
        mustClose = true
        try await respond(status, contentType: contentType, next: next)
        try await linger()
    }

    package func respondAndClose(_ status: HTTPResponseStatus, text: String) async throws {
        try await respondAndClose(status, contentType: "text/plain", body: ByteBuffer(string: text + "\n"))
    }

    /// The connection ends after the answer: the rest of the body is not wanted.
    package func closeAfterAnswer() { (mustClose, mustLinger) = (true, true) }

    /// Reads the rest of the body and drops it.
    /// - Returns: whether the connection can serve another request.
    func finish() async throws -> Bool {
        guard hasAnswered, !mustClose else {
            if hasAnswered, mustLinger { try await linger() }
            return false
        }
        // Reading an unwanted body is not worth more time or bytes.
        let end = ContinuousClock.now + HTTPLimits.unwantedWait
        var skipped = 0
        while let bytes = try await nextBytes() {
            skipped += bytes.readableBytes
            if skipped > HTTPLimits.unwantedBytes || ContinuousClock.now > end {
                try await linger()
                return false
            }
        }
        return true
    }

    /// Waits briefly until the client, which has its answer, closes the connection.
    ///
    /// Closing at once would send a reset to a client that is still sending. It would never see the answer, and the
    /// bytes that the socket has not taken yet would be lost. After `HTTPLimits.unwantedBytes` reading stops, because
    /// unwanted bytes would slow down other clients.
    func linger() async throws {
        let end = ContinuousClock.now + timeout.lingering
        var skipped = 0
        while ContinuousClock.now < end {
            if skipped > HTTPLimits.unwantedBytes {
                stream.stop.stop()
            }
            guard let part = try await stream.next(within: timeout.lingering) else { return }
            if case .body(let bytes) = part { skipped += bytes.readableBytes }
        }
    }

    // MARK: Waiting

    /// Waits for `operation`, and regularly sends `102 Processing` to the waiting client.
    package func keepingClientInformed<Result>(_ operation: () async -> Result) async -> Result {
        // HTTP/1.0 has no interim answers.
        guard head.version.minor > 0 else { return await operation() }
        let (outbound, watch, interval) = (self.outbound, stream.watch, timeout.interim)
        return await withTaskGroup(of: Void.self) { group in
            group.addTask { await Self.inform(outbound, Reminders(every: interval, from: .now()), watch) }
            let result = await operation()
            group.cancelAll()
            return result
        }
    }

    /// Why an operation of `whileClientWaits` was cancelled, from any thread: the client has closed its connection, the
    /// connection broke off, or this side has cancelled the task.
    package var endCause: @Sendable () -> EndCause {
        { [departure] in departure.cause ?? .receiverStopped }
    }

    /// Waits for `operation`, which is cancelled when the client closes the connection.
    package func whileClientWaits<Result: Sendable>(
        _ operation: @escaping @Sendable () async -> Result
    ) async -> Result {
        let task = Task(operation: operation)
        departure.whenLeft { task.cancel() }
        defer { departure.whenLeft(nil) }
        return await keepingClientInformed { [departure] in
            await withTaskCancellationHandler {
                await task.value
            } onCancel: {
                departure.noteStop()
                task.cancel()
            }
        }
    }

    private static func inform(
        _ outbound: NIOAsyncChannelOutboundWriter<HTTPServerResponsePart>,
        _ reminders: Reminders,
        _ watch: SilenceWatch
    ) async {
        var reminders = reminders
        while !Task.isCancelled {
            do {
                if let pause = reminders.pause(at: .now(), since: watch.lastExpected) {
                    try await Task.sleep(for: pause)
                } else {
                    try await outbound.write(.head(HTTPResponseHead(version: .http1_1, status: .processing)))
                }
            } catch {
                return
            }
        }
    }
}

/// Times of the interim answers to a waiting client: an interval after the last one, and after the server last waited
/// for the client. A client whose body is being read needs none, and interim answers would disturb a long body.
package struct Reminders {
    private let interval: TimeAmount
    private var last: NIODeadline

    /// - Parameter start: when the client began to wait.
    package init(every interval: Duration, from start: NIODeadline) {
        self.interval = TimeAmount(interval)
        self.last = start
    }

    /// - Parameter turn: when the server last waited for the client.
    /// - Returns: how long to wait before the next call; nil if an interim answer is due now.
    package mutating func pause(at now: NIODeadline, since turn: NIODeadline) -> Duration? {
        last = max(last, turn)
        let due = last + interval
        guard now >= due else { return Duration(due - now) }
        last = now
        return nil
    }
}
