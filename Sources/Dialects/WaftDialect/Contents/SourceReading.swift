import Synchronization

/// Whether the thread of a sending reads a source now, and all that it has sent are whole frames.
final class SourceReading: Sendable {
    private let isUnderWay = Atomic<Bool>(false)

    var isNow: Bool { isUnderWay.load(ordering: .acquiring) }

    func during<Result>(_ body: () -> Result) -> Result {
        isUnderWay.store(true, ordering: .releasing)
        defer { isUnderWay.store(false, ordering: .releasing) }
        return body()
    }
}
