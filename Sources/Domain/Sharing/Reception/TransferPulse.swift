private import Synchronization
import UniformTypes

/// The progress of a transfer.
final class TransferPulse: Sendable {
    /// Interval of progress events. A tree may have a hundred thousand small files, too many to show each one.
    private static let tellingInterval: Duration = .milliseconds(50)

    private struct Current {
        var state: (received: UInt64, last: ContinuousClock.Instant) = (0, .now)
        var told: ContinuousClock.Instant?
    }

    private let current = Mutex(Current())

    var state: (received: UInt64, last: ContinuousClock.Instant) { current.withLock { $0.state } }

    /// Contents have arrived.
    /// - Returns: whether to report it; always true for the first.
    func beat(_ received: UInt64, at now: ContinuousClock.Instant = .now) -> Bool {
        current.withLock { current in
            current.state = (received, now)
            if let told = current.told, now - told < Self.tellingInterval { return false }
            current.told = now
            return true
        }
    }
}

/// Two items with equal properties share their kept parts.
struct ItemLikeness: Hashable {
    private let kind: ItemKind
    private let name: SafeName
    private let type: UniformType

    init(_ item: OfferedItem) {
        (kind, name, type) = (item.kind, item.name, item.type)
    }
}
