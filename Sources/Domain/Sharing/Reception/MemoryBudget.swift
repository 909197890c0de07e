private import Synchronization

/// Bounds the bytes of messages that this process holds while it reads them, for all peers together.
///
/// Strangers together can take a part of it, so that they always leave room for contacts' messages. A message without
/// room does not wait: it is refused at once.
package final class MemoryBudget: Sendable {
    private struct Taken {
        var all = 0
        var ofStrangers = 0
    }

    private let bytes: Int
    private let bytesOfStrangers: Int
    private let taken = Mutex(Taken())

    /// - Parameters:
    ///   - bytes: of all peers together.
    ///   - bytesOfStrangers: the part of them that strangers together can take.
    package init(bytes: Int = Limits.bodyBytes, ofStrangers bytesOfStrangers: Int = Limits.bodyBytesOfStrangers) {
        (self.bytes, self.bytesOfStrangers) = (bytes, bytesOfStrangers)
    }

    /// The claim of a message of which no byte has arrived yet.
    package func claim(isContact: Bool) -> MemoryClaim { MemoryClaim(self, isContact: isContact) }

    /// Bytes that are taken now.
    package var bytesTaken: Int { taken.withLock { $0.all } }

    fileprivate func take(_ count: Int, isContact: Bool) -> Bool {
        taken.withLock { taken in
            guard count <= bytes - taken.all, isContact || count <= bytesOfStrangers - taken.ofStrangers else {
                return false
            }
            taken.all += count
            if !isContact { taken.ofStrangers += count }
            return true
        }
    }

    fileprivate func giveBack(_ count: Int, isContact: Bool) {
        taken.withLock { taken in
            taken.all -= count
            if !isContact { taken.ofStrangers -= count }
        }
    }
}

/// The room of one message in a `MemoryBudget`, given back when the last reference to this goes.
package final class MemoryClaim: Sendable {
    private let budget: MemoryBudget
    private let isContact: Bool
    private let bytes = Mutex(0)

    fileprivate init(_ budget: MemoryBudget, isContact: Bool) {
        (self.budget, self.isContact) = (budget, isContact)
    }

    deinit { giveBack() }

    /// Takes room for bytes that have arrived.
    /// - Returns: whether there is room; if not nothing is taken.
    package func take(_ count: Int) -> Bool {
        guard budget.take(count, isContact: isContact) else { return false }
        bytes.withLock { $0 += count }
        return true
    }

    /// Gives back all that was taken.
    package func giveBack() {
        let bytes = bytes.withLock { bytes in
            defer { bytes = 0 }
            return bytes
        }
        budget.giveBack(bytes, isContact: isContact)
    }
}
