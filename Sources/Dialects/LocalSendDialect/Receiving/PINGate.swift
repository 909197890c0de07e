import Secrets
package import Sharing
import Synchronization

/// Compares PINs, and makes an address wait that was wrong too often. One for a receiver.
package final class PINGate: Sendable {
    package enum Answer: Equatable, Sendable {
        case right
        case missing
        case wrong
        case tooMany
    }

    private struct Failures {
        var count = 0
        var last: ContinuousClock.Instant
    }

    private let failures = Mutex<[AddressKey?: Failures]>([:])

    package init() {}

    /// - Parameters:
    ///   - pin: the receiver's PIN; nil for none.
    ///   - given: the sender's.
    package func check(
        _ given: String?, against pin: String?, from address: AddressKey?, at now: ContinuousClock.Instant = .now
    ) -> Answer {
        guard let pin else { return .right }
        return failures.withLock { failures in
            failures = failures.filter { now - $0.value.last < LocalSendLimits.pinWait }
            if let wrong = failures[address], wrong.count >= LocalSendLimits.wrongPINs { return .tooMany }
            guard let given, !given.isEmpty else { return .missing }
            if KeyDerivation.areEqual(Array(given.utf8), Array(pin.utf8)) {
                failures[address] = nil
                return .right
            }
            // Too many addresses have failed: a new one waits until an old one is forgotten.
            guard failures.count < LocalSendLimits.pinAddresses || failures[address] != nil else { return .tooMany }
            failures[address, default: Failures(last: now)].count += 1
            failures[address]?.last = now
            return .wrong
        }
    }
}
