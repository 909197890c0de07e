private import Glibc

/// What threads wait at. Sendable: it is there to be used from several of them.
package final class Semaphore: @unchecked Sendable {
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    /// - Parameter count: how many may pass before somebody signals.
    package init(_ count: UInt32 = 0) {
        precondition(sem_init(semaphore, 0, count) == 0, "a semaphore could not be made")
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    /// Lets one more pass, now or later.
    package func signal() {
        sem_post(semaphore)
    }

    /// Waits, on its thread, until it may pass.
    package func wait() {
        while sem_wait(semaphore) != 0 {}
    }

    /// - Returns: whether it may pass at once, and has.
    package func tryWait() -> Bool {
        sem_trywait(semaphore) == 0
    }
}
