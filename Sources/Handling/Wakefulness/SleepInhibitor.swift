package import Logging
import Synchronization

/// Keeps the machine awake while something is under way: an inhibitor lock of logind (`idle` and `sleep`, mode `block`),
/// held as an open descriptor and given back by closing it, as systemd's "Inhibitor Locks" has it.
///
/// Where there is no system bus, or no logind on it, nothing happens but a line in the log. Nobody waits for the bus: a
/// thread of its own asks, and it is there only while it does.
package final class SleepInhibitor: Sendable {
    /// After how long of doing nothing the lock is given back: transfers often follow each other.
    package static let lingering: Duration = .seconds(2)
    /// How long nothing is asked after logind has refused, or was not there.
    private static let pause: Duration = .seconds(60)

    private struct State {
        /// What is under way.
        var holders = 0
        var lock: HeldLock?
        var isAsking = false
        var notBefore: ContinuousClock.Instant?
        /// Another one at each release: of two that wait to give back, the later counts.
        var round = 0
    }

    private let state = Mutex(State())
    private let bus: String
    private let lingering: Duration
    private let logger: Logger

    /// - Parameters:
    ///   - bus: where the system bus is; nil for what `DBUS_SYSTEM_BUS_ADDRESS` says, or the usual socket.
    ///   - lingering: how long the lock is kept when nothing is under way any more.
    package init(bus: String? = nil, lingering: Duration = SleepInhibitor.lingering, logger: Logger) {
        self.bus = bus ?? SystemBus.address
        self.lingering = lingering
        self.logger = logger
    }

    /// Whether the lock is held.
    package var isHeld: Bool { state.withLock { $0.lock != nil } }

    /// Something begins. To be followed by `end`, once.
    package func begin() {
        let asks = state.withLock { state in
            state.holders += 1
            state.round += 1
            guard state.lock == nil, !state.isAsking, state.notBefore.map({ $0 <= .now }) ?? true else { return false }
            state.isAsking = true
            return true
        }
        if asks { DetachedThread.run { self.ask() } }
    }

    /// It is over.
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
        let lock = state.withLock { state -> HeldLock? in
            guard state.holders == 0, state.round == round else { return nil }
            return state.lock.take()
        }
        if lock != nil { logger.debug("the machine may sleep again") }
    }

    private func ask() {
        let answer = SystemBus.inhibit(at: bus)
        let isWanted = state.withLock { state in
            state.isAsking = false
            guard case .success(let lock) = answer else {
                state.notBefore = .now + Self.pause
                return false
            }
            // Closed with its last reference where nobody wants it any more.
            if state.holders > 0 { state.lock = lock }
            return state.holders > 0
        }
        switch answer {
        case .success: if isWanted { logger.debug("the machine is kept awake") }
        case .failure(let reason): logger.debug("the machine is not kept awake", metadata: ["reason": "\(reason)"])
        }
    }
}
