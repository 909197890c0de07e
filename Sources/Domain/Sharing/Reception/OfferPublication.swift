private import Synchronization

/// Publishes an offer, once: when it can be answered, since a listener may answer at once, or else before its verdict.
final class OfferPublication: Sendable {
    private let isPublished = Atomic(false)
    private let tell: @Sendable () -> Void

    init(tell: @escaping @Sendable () -> Void) { self.tell = tell }

    func publish() {
        guard !isPublished.exchange(true, ordering: .acquiringAndReleasing) else { return }
        tell()
    }
}
