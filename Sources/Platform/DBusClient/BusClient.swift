private import Synchronization

/// A client of a message bus: calls methods, gets signals and owns names.
///
/// It has one thread and one connection, which end when it is released. A connection that the bus has ended stays ended:
/// then calls throw `BusError.disconnected` and streams end. A call starts a program only if its flag says so.
package final class BusClient: Sendable {
    /// The time in which a bus or a service answers.
    package static let timeout: Duration = .seconds(25)

    let thread = BusThread(name: "waft-bus") { BusSession() }
    private let lastSubscription = Atomic<Int>(0)

    private init() {}

    deinit {
        thread.stop()
    }

    /// Connects and greets the bus. Ends at once when the task is cancelled.
    ///
    /// - Parameter timeout: maximum wait for the bus.
    /// - Throws: `BusError`.
    package static func connect(
        to address: BusAddress, limits: BusLimits, timeout: Duration = BusClient.timeout
    ) async throws(BusError) -> BusClient {
        let client = BusClient()
        try await client.untilCancelled { () async throws(BusError) in
            try await client.perform { (session, answer: @escaping (Result<Void, BusError>) -> Void) in
                if let error = session.connect(to: address, limits) { return answer(.failure(error)) }
                session.call(.bus("Hello"), timeout: timeout) { answer($0.map { _ in }) }
            }
        }
        return client
    }

    /// Ends the connection: calls throw `BusError.disconnected`, and streams end.
    package func close() {
        thread.stop()
    }

    /// Runs `body`; if the task is cancelled, the connection ends at once, and with it the calls of `body`.
    package func untilCancelled<Value>(
        _ body: () async throws(BusError) -> Value
    ) async throws(BusError) -> Value {
        let result = await withTaskCancellationHandler { () async -> Result<Value, BusError> in
            do throws(BusError) {
                return .success(try await body())
            } catch {
                return .failure(error)
            }
        } onCancel: {
            close()
        }
        return try result.get()
    }

    /// Calls a method and waits for its reply.
    ///
    /// - Parameters:
    ///   - timeout: maximum wait for the reply.
    ///   - reading: reads the reply's arguments on the client's thread; nil if they are not the expected ones.
    /// - Throws: `BusError`.
    package func call<Value: Sendable>(
        _ call: BusCall, timeout: Duration = BusClient.timeout,
        reading: @escaping @Sendable (inout BusReader) -> Value?
    ) async throws(BusError) -> Value {
        try await perform { session, answer in
            session.call(call, timeout: timeout) { reply in
                answer(reply.flatMap { $0.read(reading).map { .success($0) } ?? .failure(.unexpectedReply) })
            }
        }
    }

    /// Subscribes to a signal. The stream ends with the connection.
    ///
    /// - Parameters:
    ///   - buffer: maximum number of signals that wait; older ones are dropped.
    ///   - reading: reads a signal's arguments on the client's thread; nil drops the signal.
    /// - Returns: the signals that are sent from now on.
    /// - Throws: `BusError`.
    package func signals<Value: Sendable>(
        _ match: BusMatch, timeout: Duration = BusClient.timeout, buffer: Int = 64,
        reading: @escaping @Sendable (inout BusReader) -> Value?
    ) async throws(BusError) -> AsyncStream<Value> {
        let (stream, inlet) = AsyncStream<Value>.makeStream(bufferingPolicy: .bufferingNewest(buffer))
        try await subscribe([match], timeout, inlet) { message in
            if let value = message.read(reading) { inlet.yield(value) }
        }
        return stream
    }

    /// Subscribes to several signals, in their order. The stream ends with the connection. It also ends if more than `buffer`
    /// signals wait: none is lost unnoticed.
    ///
    /// - Parameter reading: reads a signal's arguments on the client's thread; nil drops the signal.
    /// - Throws: `BusError`.
    package func signals<Value: Sendable>(
        _ matches: [BusMatch], timeout: Duration = BusClient.timeout, buffer: Int,
        reading: @escaping @Sendable (BusSignal, inout BusReader) -> Value?
    ) async throws(BusError) -> AsyncStream<Value> {
        let (stream, inlet) = AsyncStream<Value>.makeStream(bufferingPolicy: .bufferingOldest(buffer))
        try await subscribe(matches, timeout, inlet) { message in
            guard let signal = BusSignal(message), let value = message.read({ reading(signal, &$0) }) else { return }
            if case .dropped = inlet.yield(value) { inlet.finish() }
        }
        return stream
    }

    private func subscribe<Value: Sendable>(
        _ matches: [BusMatch], _ timeout: Duration, _ inlet: AsyncStream<Value>.Continuation,
        _ tell: @escaping @Sendable (BusMessage) -> Void
    ) async throws(BusError) {
        let number = lastSubscription.add(1, ordering: .relaxed).newValue
        inlet.onTermination = { [weak self] _ in self?.thread.perform { $0.unsubscribe(number) } }
        try await perform { (session, answer: @escaping (Result<Void, BusError>) -> Void) in
            session.subscribe(number, matches, timeout: timeout) { message in
                if let message { tell(message) } else { inlet.finish() }
            } then: { error in
                answer(error.map { .failure($0) } ?? .success(()))
            }
        }
    }

    /// Whether a connection owns a name.
    ///
    /// - Throws: `BusError`.
    package func isOwned(_ name: String, timeout: Duration = BusClient.timeout) async throws(BusError) -> Bool {
        try await call(.bus("NameHasOwner") { $0.string(name) }, timeout: timeout) { $0.boolean() }
    }

    /// The unique name of the connection that owns a name; nil for none.
    ///
    /// - Throws: `BusError`.
    package func owner(of name: String, timeout: Duration = BusClient.timeout) async throws(BusError) -> String? {
        do throws(BusError) {
            return try await call(.bus("GetNameOwner") { $0.string(name) }, timeout: timeout) { $0.string() }
        } catch {
            if error.isRefusal { return nil }
            throw error
        }
    }

    /// Owns a name as long as the client exists.
    ///
    /// - Throws: `BusError.nameTaken`, or another `BusError`.
    package func own(_ name: String, timeout: Duration = BusClient.timeout) async throws(BusError) {
        // DBUS_NAME_FLAG_DO_NOT_QUEUE; the replies 1 and 4 say that the name is ours.
        let request = BusCall.bus("RequestName") { arguments in
            arguments.string(name)
            arguments.uint32(4)
        }
        let reply = try await call(request, timeout: timeout) { $0.uint32() }
        guard reply == 1 || reply == 4 else { throw .nameTaken }
    }

    /// Runs a job on the thread and waits for its answer, which it gives exactly once.
    private func perform<Value: Sendable>(
        _ job: @escaping @Sendable (BusSession, @escaping (Result<Value, BusError>) -> Void) -> Void
    ) async throws(BusError) -> Value {
        let result = await withCheckedContinuation { continuation in
            let isTaken = thread.perform { session in job(session) { continuation.resume(returning: $0) } }
            if !isTaken { continuation.resume(returning: Result<Value, BusError>.failure(.disconnected)) }
        }
        return try result.get()
    }
}
