import DBusClient
import Logging

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
