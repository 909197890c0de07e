import Synchronization

/// The beginning of a program's output.
final class KeptBeginning: Sendable {
    private let limit: Int
    private let kept = Mutex<[UInt8]>([])

    init(limit: Int) { self.limit = limit }

    var bytes: [UInt8] { kept.withLock { $0 } }

    func take(_ piece: UnsafeRawBufferPointer) {
        kept.withLock { $0.append(contentsOf: piece.prefix(limit - $0.count)) }
    }
}
