private import Glibc

/// A semaphore for threads. Sendable: several threads use it.
package final class Semaphore: @unchecked Sendable {
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    /// - Parameter count: number of waits that pass before the first signal.
    package init(_ count: UInt32 = 0) {
        precondition(sem_init(semaphore, 0, count) == 0, "a semaphore could not be made")
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    /// Lets one more wait pass, now or later.
    package func signal() {
        sem_post(semaphore)
    }

    /// Blocks its thread until it may pass.
    package func wait() {
        while sem_wait(semaphore) != 0 {}
    }

    /// - Returns: whether it passed at once.
    package func tryWait() -> Bool {
        sem_trywait(semaphore) == 0
    }
}
