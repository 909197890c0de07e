private import Secrets
private import Synchronization

/// Compares PINs, and bounds the guesses: of each address, and of all addresses together. One for a receiver.
package final class PINGate: Sendable {
    private let guesses: Mutex<PINGuesses>

    /// How long an address waits after its last wrong PIN.
    package static let wait = PINGuesses.wait

    /// - Parameter tries: wrong PINs from one address before it must wait.
    package init(tries: Int) { guesses = Mutex(PINGuesses(tries: tries)) }

    /// - Parameters:
    ///   - given: the sender's.
    ///   - pin: the receiver's PIN; nil for none.
    package func check(
        _ given: String?, against pin: @autoclosure () -> String?, from address: AddressKey?,
        at now: ContinuousClock.Instant = .now
    ) -> PINGuesses.Answer {
        guesses.withLock { guesses in
            // Read under the lock: no guess meets a PIN that was replaced meanwhile.
            guard let pin = pin() else { return .right }
            return guesses.answer(given, pin, from: address, at: now)
        }
    }

    /// Ends the rest after a new PIN. Addresses that must wait go on waiting.
    package func pinHasChanged() { guesses.withLock { $0.pinHasChanged() } }
}

/// The wrong PINs of all addresses. A guess is counted before it is compared: a guess that cannot be counted is not compared.
package struct PINGuesses {
    package enum Answer: Equatable, Sendable {
        case right
        case missing
        case wrong
        /// Wrong, and the last guess of the budget: no PIN is compared for `rest`, or until the PIN has changed.
        case spent
        /// Not compared.
        case tooMany
    }

    private struct Failures {
        var count = 0
        var last: ContinuousClock.Instant
    }

    /// How long an address waits after its last wrong PIN.
    package static let wait: Duration = .seconds(300)
    /// How long every PIN is refused after the budget is spent.
    package static let rest: Duration = .seconds(600)
    /// Wrong PINs of all addresses together: of a million PINs, one in 20,000 is guessed.
    package static let budget = 50
    /// Addresses of which wrong PINs are remembered.
    private static let addresses = 1_024

    private let tries: Int
    private var failures: [AddressKey?: Failures] = [:]
    private var wrong = 0
    private var restsUntil: ContinuousClock.Instant?

    package init(tries: Int) { self.tries = tries }

    package mutating func answer(
        _ given: String?, _ pin: String, from address: AddressKey?, at now: ContinuousClock.Instant
    ) -> Answer {
        if let restsUntil {
            guard restsUntil <= now else { return .tooMany }
            self.restsUntil = nil
        }
        failures = failures.filter { now - $0.value.last < Self.wait }
        if let failures = failures[address] {
            guard failures.count < tries else { return .tooMany }
        } else {
            guard failures.count < Self.addresses else { return .tooMany }
        }
        guard let given, !given.isEmpty else { return .missing }
        if KeyDerivation.areEqual(Array(given.utf8), Array(pin.utf8)) {
            failures[address] = nil
            return .right
        }
        failures[address, default: Failures(last: now)].count += 1
        failures[address]?.last = now
        wrong += 1
        guard wrong >= Self.budget else { return .wrong }
        wrong = 0
        restsUntil = now + Self.rest
        return .spent
    }

    package mutating func pinHasChanged() {
        wrong = 0
        restsUntil = nil
    }
}
