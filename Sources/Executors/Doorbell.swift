private import Glibc

/// What a thread sleeps on. Sendable: a semaphore is there to be used from several threads.
final class Doorbell: @unchecked Sendable {
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() {
        precondition(sem_init(semaphore, 0, 0) == 0, "a semaphore could not be made")
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func ring() {
        sem_post(semaphore)
    }

    /// Until it rings; one ring that came before counts.
    func wait() {
        while sem_wait(semaphore) != 0 {}
    }
}
