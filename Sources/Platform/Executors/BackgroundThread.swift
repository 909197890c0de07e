private import Glibc

/// A thread for one piece of work that blocks, or takes long.
package enum BackgroundThread {
    /// - Returns: whether there is a thread that runs `body`; without one it does not run.
    @discardableResult
    package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        let box = Unmanaged.passRetained(Body(body))
        var thread = pthread_t()
        let failure = pthread_create(
            &thread, nil,
            { box in
                if let box { Unmanaged<Body>.fromOpaque(box).takeRetainedValue().run() }
                return nil
            }, box.toOpaque())
        if failure == 0 { pthread_detach(thread) } else { box.release() }
        return failure == 0
    }

    /// Runs `body` on a thread of its own, as a part of the calling task: it sees whether the task is cancelled.
    ///
    /// - Returns: nil if there is no thread; then `body` has not run.
    @discardableResult
    package static func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result? {
        guard let thread = TaskThread() else { return nil }
        defer { thread.end() }
        return await withTaskExecutorPreference(thread) { body() }
    }

    private final class Body {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
}
