import Contacts
import Logging
import Operations
import Receiving
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
        let receiver = waft.makeReceiver(visibility: .everyone) { event in
            if case .ready(_, _, let port, _, _) = event { feed.yield(port) }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { feed.finish() }
                try await receiver.receive()
            }
            if let port = await ports.first(where: { _ in true }) { try await body("127.0.0.1:\(port)") }
            group.cancelAll()
            try await group.waitForAll()
        }
    }
}
