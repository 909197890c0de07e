package import DBusClient
import Foundation
package import Logging

/// Reports when the user's machine is locked, sleeps or is left, and when a person is there again.
///
/// It listens to logind, and to the screen saver if wanted. A signal counts only if the owner of the service's name sent it.
/// Without a system bus or logind it logs one line and waits for them. The signal `Unlock` is not reported.
package final class LockWatch: Sendable {
    private let bus: BusAddress
    private let user: UInt32
    /// Nil if the screen saver is not watched.
    private let screenSaverBus: BusAddress??
    private let firstPause: Duration
    private let delay: SleepDelay
    private let logger: Logger

    /// - Parameters:
    ///   - bus: the system bus.
    ///   - session: the session bus; nil without one. It is used with `lockOnScreenSaver` only.
    ///   - lockOnScreenSaver: whether the beginning of the screen saver is a lock.
    ///   - user: the user whose sessions are watched.
    ///   - firstPause: pause before the second attempt to connect; it doubles up to one minute.
    package init(
        bus: BusAddress = .system(ProcessInfo.processInfo.environment),
        session: BusAddress? = .session(ProcessInfo.processInfo.environment),
        lockOnScreenSaver: Bool = false, user: UInt32 = geteuid(), firstPause: Duration = .seconds(1), logger: Logger
    ) {
        self.bus = bus
        self.user = user
        screenSaverBus = lockOnScreenSaver ? .some(session) : .none
        self.firstPause = firstPause
        delay = SleepDelay(bus: bus)
        self.logger = logger
    }

    /// Whether sleep has to wait for a lock: true while protected data can be read.
    ///
    /// Returns when logind has answered, within seconds; nothing is reported if it grants no delay.
    package func delaySleep(_ isWanted: Bool) async {
        await delay.want(isWanted)
    }

    /// Whether a delay of sleep is held.
    package var isDelayingSleep: Bool {
        get async { await delay.isHeld }
    }

    /// Runs until the task is cancelled, and ends then at once.
    ///
    /// - Parameter tell: called with one event after the other. The machine sleeps after the call with `.locked(.sleep)` has
    ///   returned. Equal events that wait are told once, and an unlocking event not at all after a later lock.
    package func run(_ tell: @Sendable (LockEvent) async -> Void) async {
        let queue = LockEventQueue()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [bus, user, firstPause, delay, logger] in
                var logind = LogindWatch(
                    bus: bus, user: user, firstPause: firstPause, queue: queue, delay: delay, logger: logger)
                await logind.run()
            }
            if let screenSaverBus {
                group.addTask { [firstPause, logger] in
                    let saver = ScreenSaverWatch(
                        bus: screenSaverBus, firstPause: firstPause, queue: queue, logger: logger)
                    await saver.run()
                }
            }
            while let event = await queue.next() {
                await tell(event)
                if event == .locked(.sleep) { await delay.release() }
            }
            group.cancelAll()
        }
        await delay.end()
    }
}

/// Follows the screen saver of the session bus (`org.freedesktop.ScreenSaver`). Used by one task.
struct ScreenSaverWatch {
    private static let name = "org.freedesktop.ScreenSaver"
    private static let limits = BusLimits(messageBytes: 64 << 10)
    private static let timeout: Duration = .seconds(5)
    private static let longestPause: Duration = .seconds(60)

    /// Nil without a session bus.
    let bus: BusAddress?
    let firstPause: Duration
    let queue: LockEventQueue
    let logger: Logger

    /// Runs until the task is cancelled.
    func run() async {
        guard let bus else { return say("no session bus is known") }
        // Desktops send it from different objects.
        let match = BusMatch(from: Self.name, path: nil, interface: Self.name, member: "ActiveChanged")
        var pause = firstPause
        var hasSaid = false
        while !Task.isCancelled {
            do throws(BusError) {
                let client = try await BusClient.connect(to: bus, limits: Self.limits, timeout: Self.timeout)
                try await client.untilCancelled { () async throws(BusError) in
                    let changes = try await client.signals(match, timeout: Self.timeout) { $0.boolean() }
                    pause = firstPause
                    for await isActive in changes where isActive { queue.post(.locked(.screenSaver)) }
                }
            } catch {
                if !hasSaid, !Task.isCancelled { say("\(error)") }
                hasSaid = true
            }
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, Self.longestPause)
        }
    }

    private func say(_ reason: String) {
        logger.warning("the screen saver cannot be watched", metadata: ["reason": "\(reason)"])
    }
}
