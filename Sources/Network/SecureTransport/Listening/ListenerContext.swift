internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOPosix

/// The context of a listener's connections.
///
/// If its identity takes long to make, the first connection causes it: an RSA key costs some tenths of a second of a
/// processor, more than receiving a few hundred MB, and most receivers never need it.
final class ListenerContext: Sendable {
    private enum State {
        case unmade
        /// Promises of the connections that wait for it.
        case making([EventLoopPromise<TLSContext>])
        case made(TLSContext)
    }

    private let state: NIOLockedValueBox<State>
    private let make: @Sendable () throws -> TLSContext

    init(_ context: TLSContext) {
        state = NIOLockedValueBox(.made(context))
        make = { context }
    }

    /// - Parameter make: called on a thread that may block; once, or again for a later connection if it threw.
    init(makingAtFirstConnection make: @escaping @Sendable () throws -> TLSContext) {
        state = NIOLockedValueBox(.unmade)
        self.make = make
    }

    /// - Returns: the context, at once if it exists; or the error of `make`.
    func get(on eventLoop: any EventLoop) -> EventLoopFuture<TLSContext> {
        let promise = eventLoop.makePromise(of: TLSContext.self)
        let isFirst = state.withLockedValue { state in
            switch state {
            case .made(let context):
                promise.succeed(context)
                return false
            case .making(let waiting):
                state = .making(waiting + [promise])
                return false
            case .unmade:
                state = .making([promise])
                return true
            }
        }
        if isFirst { makeNow() }
        return promise.futureResult
    }

    private func makeNow() {
        NIOThreadPool.singleton.submit { [self] _ in
            let result = Result { try make() }
            let waiting = state.withLockedValue { state -> [EventLoopPromise<TLSContext>] in
                guard case .making(let waiting) = state else { return [] }
                if case .success(let context) = result { state = .made(context) } else { state = .unmade }
                return waiting
            }
            for promise in waiting { promise.completeWith(result) }
        }
    }
}
