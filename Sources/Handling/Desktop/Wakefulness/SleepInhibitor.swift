package import DBusClient
import Foundation
package import Logging
import Synchronization

/// Keeps the machine awake during transfers with an inhibitor lock of logind (`idle` and `sleep`, mode `block`): an
/// open descriptor, whose closing releases the lock (systemd, "Inhibitor Locks").
///
/// Without a system bus, or without logind on it, it only logs a line. No caller waits for the bus.
package final class SleepInhibitor: Sendable {
    /// Idle time before the lock is released: transfers often follow each other.
    package static let lingering: Duration = .seconds(2)
    /// Pause before the next request after logind refused or was missing.
    private static let pause: Duration = .seconds(60)

    private struct State {
        /// Number of activities under way.
        var holders = 0
        var lock: SleepLock?
        var isAsking = false
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

    /// Whether the lock is held.
    package var isHeld: Bool { state.withLock { $0.lock != nil } }

    /// An activity begins. Call `end` once after it.
    package func begin() {
        let asks = state.withLock { state in
            state.holders += 1
            state.round += 1
            guard state.lock == nil, !state.isAsking, state.notBefore.map({ $0 <= .now }) ?? true else { return false }
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
        let lock = state.withLock { state -> SleepLock? in
            guard state.holders == 0, state.round == round else { return nil }
            return state.lock.take()
        }
        if lock != nil { logger.debug("the machine may sleep again") }
    }

    private func ask() async {
        let answer: Result<SleepLock, BusError>
        do throws(BusError) {
            answer = .success(try await SleepLock.request(.transfer, from: bus))
        } catch {
            answer = .failure(error)
        }
        let isWanted = state.withLock { state in
            state.isAsking = false
            guard case .success(let lock) = answer else {
                state.notBefore = .now + Self.pause
                return false
            }
            // If no activity needs the lock any more, its last reference closes it.
            if state.holders > 0 { state.lock = lock }
            return state.holders > 0
        }
        switch answer {
        case .success: if isWanted { logger.debug("the machine is kept awake") }
        case .failure(let reason): logger.debug("the machine is not kept awake", metadata: ["reason": "\(reason)"])
        }
    }
}
