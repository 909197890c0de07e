import Sharing

/// Events of a piece of work. It begins with an iteration; each iteration is work of its own.
struct Events<Element: Sendable>: AsyncSequence, Sendable {
    typealias Work =
        @Sendable (_ report: @escaping @Sendable (Element) -> Void, Cancellation) async throws(WaftError) -> Void

    /// The time in which work that is cancelled can take leave of the other side.
    let goodbye: Duration
    let work: Work

    func makeAsyncIterator() -> Iterator { Iterator(goodbye, work) }

    struct Iterator: AsyncIteratorProtocol {
        private var events: AsyncStream<Element>.Iterator
        /// Nil once its end was reported.
        private var work: Task<WaftError?, Never>?

        init(_ goodbye: Duration, _ work: @escaping Work) {
            let (stream, feed) = AsyncStream<Element>.makeStream()
            let cancellation = Cancellation()
            let task = Task { () -> WaftError? in
                defer { feed.finish() }
                do throws(WaftError) {
                    try await work({ feed.yield($0) }, cancellation)
                    return nil
                } catch {
                    return error
                }
            }
            // Also when the iterator is dropped.
            feed.onTermination = { end in
                guard case .cancelled = end else { return }
                cancellation.request()
                Task {
                    try? await Task.sleep(for: goodbye)
                    task.cancel()
                }
            }
            (events, self.work) = (stream.makeAsyncIterator(), task)
        }

        /// A task that was cancelled gets its end when the work has ended: the other side knows it then.
        mutating func next(isolation actor: isolated (any Actor)?) async throws(WaftError) -> Element? {
            if let event = await events.next(isolation: actor) { return event }
            let ended = work
            work = nil
            if let error = await ended?.value { throw error }
            return nil
        }
    }
}
