import Control
import Lines
import Logging
import NIOPosix
import Outbox
import Settings
import Sharing
import TestSupport
import Testing
import UniformTypes

@testable import Operations

/// A home with jobs in its outbox.
struct Kitchen {
    let folder = TemporaryFolder()
    let home: Home
    let waft: Waft
    let store: OutboxStore

    /// - Parameter jobs: how many wait; their numbers begin with 1.
    init(jobs: Int) throws {
        home = try Home(environment: ["WAFT_HOME": folder.path])
        try home.makeFolders()
        waft = Waft(
            home, LiveSettings(Settings(hostName: "kitchen")),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        store = OutboxStore(folder: home.outbox)
        for _ in 0..<jobs {
            let draft = try OutboxDraft.make(in: store)
            try draft.addText(
                "hello", offered: OfferedItem(kind: .file, name: try SafeName("a.txt"), type: .utf8PlainText, size: 5))
            _ = try draft.commit(to: .init(text: "study"), at: .now)
        }
    }

    /// Runs a receiver that answers with `answer` while `body` runs.
    func withReceiver(
        events: EventFeed = EventFeed(), _ answer: @escaping @Sendable (ControlRequest) async -> ControlReply,
        _ body: @Sendable () async throws -> Void
    ) async throws {
        let server = try await ControlServer.bind(
            ControlSocket(folder: home.run), on: MultiThreadedEventLoopGroup.singleton,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await server.run(events: events, answer: answer) }
            defer { tasks.cancelAll() }
            try await body()
        }
    }

    func sending(_ number: Int) throws {
        _ = try store.change(JobNumber(number)) { _, standing in
            standing.state = .sending
            return true
        }
    }
}
