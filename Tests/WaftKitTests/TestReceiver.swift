import Lines
import Logging
import Operations
import Settings
import TestSupport

/// A receiver on a port of its own, as `waftd` runs one. Its people see every offer.
struct TestReceiver {
    private let folder = TemporaryFolder()
    let name: String

    /// The value of `WAFT_HOME`.
    var home: String { folder.path }

    /// - Parameter body: gets the address while the receiver runs.
    func running(_ body: @Sendable (_ address: String) async throws -> Void) async throws {
        var settings = Settings(hostName: name)
        (settings.discovery, settings.notifications, settings.inhibitsSleep) = (false, .off, false)
        (settings.airdrop.isEnabled, settings.localsend.isEnabled) = (false, false)
        settings.port = 0
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let waft = Operations.Waft(try Home(environment: ["WAFT_HOME": home]), LiveSettings(settings), logger: logger)
        let (ports, feed) = AsyncStream<Int>.makeStream()
        let receiver = waft.ownReceiver { news in
            if case .ready(let line) = news { feed.yield(line.port) }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { feed.finish() }
                try await receiver.run()
            }
            if let port = await ports.first(where: { _ in true }) { try await body("127.0.0.1:\(port)") }
            group.cancelAll()
            try await group.waitForAll()
        }
    }
}
