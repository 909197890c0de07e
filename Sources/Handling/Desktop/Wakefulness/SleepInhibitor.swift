package import DBusClient
import Foundation
package import Logging
import Synchronization

/// Keeps the machine awake during transfers with two inhibitor locks of logind (`idle` and `sleep`, mode `block`): open
/// descriptors, whose closing releases the locks (systemd, "Inhibitor Locks").
///
/// A lock that logind refuses is said once, and kept in `refusal`. Without a system bus, or without logind on it, it only
/// logs a line. No caller waits for the bus.
package final class SleepInhibitor: Sendable {
    /// Idle time before the lock is released: transfers often follow each other.
    package static let lingering: Duration = .seconds(2)
    /// Pause before the next request after logind refused both locks or was missing.
    private static let pause: Duration = .seconds(60)

    private struct State {
        /// Number of activities under way.
        var holders = 0
        var locks: [SleepLock] = []
        var isAsking = false
        var refusal: WakeRefusal?
        var hasSaidRefusal = false
        var notBefore: ContinuousClock.Instant?
        /// Increases with each begin and end, so that only the latest waiting release counts.
        var round = 0
    }

    private let state = Mutex(State())
    private let bus: BusAddress
    private let lingering: Duration
    private let logger: Logger

    /// - Parameters:
    ///   - lingering: how long the lock is kept after the last activity has ended.
    package init(
        bus: BusAddress = .system(ProcessInfo.processInfo.environment),
        lingering: Duration = SleepInhibitor.lingering, logger: Logger
    ) {
        self.bus = bus
        self.lingering = lingering
        self.logger = logger
    }

    /// Whether a lock is held.
    package var isHeld: Bool { state.withLock { !$0.locks.isEmpty } }

    /// The locks that logind refused at the last request; nil if it granted all, or was not asked yet.
    package var refusal: WakeRefusal? { state.withLock { $0.refusal } }

    /// An activity begins. Call `end` once after it.
    package func begin() {
        let asks = state.withLock { state in
            state.holders += 1
            state.round += 1
            guard state.locks.isEmpty, !state.isAsking, state.notBefore.map({ $0 <= .now }) ?? true else {
                return false
            }
            state.isAsking = true
            return true
        }
        if asks { Task { await ask() } }
    }

    /// The activity has ended.
    package func end() {
        let round = state.withLock { state -> Int? in
            state.holders -= 1
            state.round += 1
            return state.holders == 0 ? state.round : nil
        }
        guard let round else { return }
        let lingering = self.lingering
        Task {
            try? await Task.sleep(for: lingering)
            giveBack(unlessAfter: round)
        }
    }

    private func giveBack(unlessAfter round: Int) {
        let locks = state.withLock { state -> [SleepLock] in
            guard state.holders == 0, state.round == round else { return [] }
            defer { state.locks = [] }
            return state.locks
        }
        if !locks.isEmpty { logger.debug("the machine may sleep again") }
    }

    private func ask() async {
        let answer = await WakeLocks.request(from: bus)
        let refusal = answer.refusal
        let (isWanted, isNew) = state.withLock { state in
            state.isAsking = false
            state.refusal = refusal
            if answer.granted.isEmpty { state.notBefore = .now + Self.pause }
            // If no activity needs the locks any more, their last reference closes them.
            if state.holders > 0 { state.locks = answer.granted }
            defer { state.hasSaidRefusal = state.hasSaidRefusal || refusal != nil }
            return (state.holders > 0, refusal != nil && !state.hasSaidRefusal)
        }
        if isWanted, !answer.granted.isEmpty { logger.debug("the machine is kept awake") }
        guard let fault = answer.fault else { return }
        guard let refusal, isNew else {
            return logger.debug("the machine is not kept awake", metadata: ["reason": "\(fault)"])
        }
        logger.notice(
            "the machine may sleep during transfers",
            metadata: ["refused": "\(refusal.what.joined(separator: ","))", "reason": "\(fault)"])
    }
}
