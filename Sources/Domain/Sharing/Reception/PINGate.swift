private import Secrets
private import Synchronization

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

    private let tries: Int
    private let failures = Mutex<[AddressKey?: Failures]>([:])

    /// How long an address waits after its last wrong PIN.
    package static let wait: Duration = .seconds(300)
    /// Addresses of which wrong PINs are remembered.
    private static let addresses = 1_024

    /// - Parameter tries: wrong PINs from one address before it must wait.
    package init(tries: Int) { self.tries = tries }

    /// - Parameters:
    ///   - pin: the receiver's PIN; nil for none.
    ///   - given: the sender's.
    package func check(
        _ given: String?, against pin: String?, from address: AddressKey?, at now: ContinuousClock.Instant = .now
    ) -> Answer {
        guard let pin else { return .right }
        return failures.withLock { failures in
            failures = failures.filter { now - $0.value.last < Self.wait }
            if let wrong = failures[address], wrong.count >= tries { return .tooMany }
            guard let given, !given.isEmpty else { return .missing }
            if KeyDerivation.areEqual(Array(given.utf8), Array(pin.utf8)) {
                failures[address] = nil
                return .right
            }
            // Too many addresses have failed: a new one waits until an old one is forgotten.
            guard failures.count < Self.addresses || failures[address] != nil else { return .tooMany }
            failures[address, default: Failures(last: now)].count += 1
            failures[address]?.last = now
            return .wrong
        }
    }
}
