import DBusClient
import FakeLogind
import Sharing
import Synchronization
import TestSupport
import Testing

@testable import Desktop

/// Records what the buttons do.
private final class RecordingDesk: ArrivalOpening {
    enum Deed: Hashable, Sendable {
        case opened(Int64)
        case chosen(Int64)
        case shown([Int64])
    }

    let deeds = Recorder<Deed>()
    private let reason: String?

    init(failing reason: String? = nil) {
        self.reason = reason
    }

    func canOpen(_ arrival: Arrival) -> Bool { arrival.stored.name.text != "liar" }

    func open(_ arrival: Arrival) async -> String? {
        deeds.record(.opened(arrival.number.value))
        return reason
    }

    func canChoose(for arrival: Arrival) async -> Bool { true }

    func choose(for arrival: Arrival) async -> String? {
        deeds.record(.chosen(arrival.number.value))
        return reason
    }

    func show(_ arrivals: [Arrival]) async -> String? {
        deeds.record(.shown(arrivals.map(\.number.value)))
        return reason
    }
}

@Suite("Notifications of arrivals, with a server of the tests' own", .timeLimit(.minutes(1)))
struct ArrivalNotificationsTests {
    private let arrivals = ArrivalNotifications(interval: .milliseconds(1))
    private let log = RecordingLog.make()

    /// Shows arrivals while `body` runs.
    private func run(
        capabilities: [String] = ["actions", "body", "body-markup"], desk: RecordingDesk = RecordingDesk(),
        isLocked: Bool = false, isSealed: @escaping @Sendable () -> Bool = { false },
        _ body: (FakeServer, FakeLogind) async throws -> Void
    ) async throws {
        let bus = try await TestBus()
        let server = try await FakeServer(bus, FakeServer.Behaviour(capabilities: capabilities))
        let logind = try await FakeLogind(isLocked: isLocked)
        defer { logind.end() }
        let lock = SessionLock(bus: try #require(BusAddress(logind.address)))
        let notifier = DesktopNotifier(
            environment: bus.environment, burst: 100, pace: .zero, logger: log.logger,
            surplus: ArrivalNotifications.surplus)
        let running = Task { [arrivals] in
            await arrivals.run(on: notifier, lock: lock, opening: desk, isSealed: isSealed) { _, _ in
                Introduction(contact: "laptop", key: "k7qf")
            }
        }
        try await body(server, logind)
        running.cancel()
        await running.value
        await notifier.stop()
    }

    /// A transfer of these items arrives.
    private func arrive(_ names: String...) {
        let id = TransferID()
        for (index, name) in names.enumerated() {
            arrivals.see(.stored([.sample(Int64(index + 1), name, item: index, of: id)]))
        }
        arrivals.see(.ended(id, .none, .none, .none))
    }

    @Test("the buttons open the first item and show all of them")
    func buttons() async throws {
        let desk = RecordingDesk()
        try await run(desk: desk) { server, _ in
            arrive("report.pdf", "b", "c")
            let call = try await server.notified()
            #expect(call.summary == "3 items have arrived")
            #expect(call.body == "“report.pdf” and 2 more from your contact “laptop”")
            server.press(1, call.key("open"))
            try await desk.deeds.first { $0 == .opened(1) }
            server.press(1, call.key("choose"))
            try await desk.deeds.first { $0 == .chosen(1) }
            server.press(1, call.key("show"))
            try await desk.deeds.first { $0 == .shown([1, 2, 3]) }
        }
    }

    @Test("a button that does nothing says why")
    func failure() async throws {
        try await run(desk: RecordingDesk(failing: "it is <gone>")) { server, _ in
            arrive("report.pdf")
            let call = try await server.notified()
            server.press(1, call.key("open"))
            let reason = try await server.notified { $0.summary == "It could not be opened" }
            #expect(reason.body == "it is &lt;gone&gt;")
        }
    }

    @Test("an item that may not be opened has no button for it")
    func liar() async throws {
        try await run { server, _ in
            arrive("liar")
            let call = try await server.notified()
            #expect(call.actions.count == 2)
            #expect(call.key("open") == "none")
        }
    }

    @Test("while Waft is locked no names are shown, and they appear at its unlock")
    func sealed() async throws {
        let isSealed = Atomic<Bool>(true)
        try await run(isSealed: { isSealed.load(ordering: .acquiring) }) { server, _ in
            arrive("report.pdf")
            let call = try await server.notified()
            #expect(call.body == "To see it: waft unlock" && call.key("open") == "none", "\(call)")
            isSealed.store(false, ordering: .releasing)
            arrivals.lockChanged()
            let open = try await server.notified { $0.body.contains("report.pdf") }
            #expect(open.replaces == 1)
        }
    }

    @Test("an unlock of Waft from elsewhere shows no names while the session is locked")
    func remoteUnlock() async throws {
        let isSealed = Atomic<Bool>(true)
        try await run(isSealed: { isSealed.load(ordering: .acquiring) }) { server, logind in
            arrive("report.pdf")
            try await server.notified()
            logind.lock()
            isSealed.store(false, ordering: .releasing)
            arrivals.lockChanged()
            // It asks again, and once more when it has subscribed to the changes.
            _ = try await logind.heard.element(4)
            #expect(!server.notifications.contains { $0.body.contains("report.pdf") })
            logind.unlock()
            let open = try await server.notified { $0.body.contains("report.pdf") }
            #expect(open.replaces == 1)
        }
    }

    @Test("a server without buttons gets the command")
    func plain() async throws {
        try await run(capabilities: ["body"]) { server, _ in
            arrive("report.pdf")
            let call = try await server.notified()
            #expect(call.actions.isEmpty)
            #expect(call.body == "“report.pdf” from your contact “laptop”\nTo open it: waft inbox open 1")
        }
    }

    @Test("while the session is locked no names are shown; when it is unlocked, they replace the count")
    func locked() async throws {
        try await run(isLocked: true) { server, logind in
            arrive("secret.pdf", "b", "c")
            let hidden = try await server.notified()
            #expect(hidden.body == "Unlock to see them.")
            #expect(hidden.actions.isEmpty)
            // It asks for the second time when it has subscribed to the changes.
            _ = try await logind.heard.element(3)
            logind.unlock()
            let shown = try await server.notified { $0.body.contains("secret.pdf") }
            #expect(shown.replaces == 1)
            #expect(shown.actions.count == 6)
        }
    }

    @Test("a flood of transfers has few notifications, and the oldest ones are closed")
    func flood() async throws {
        try await run { server, _ in
            for number in 1...200 { arrive("item \(number)") }
            // Each is shown, or counted.
            arrive("last", "b")
            while true {
                let calls = server.notifications
                let counted = calls.last { $0.summary.hasSuffix("items have arrived") }
                if let counted, counted.body.contains("transfers") || counted.body.contains("last") { break }
                try await Task.sleep(for: .milliseconds(1))
            }
            let fresh = server.notifications.count { $0.replaces == 0 }
            let closed = server.heard.all.count { if case .close = $0 { true } else { false } }
            #expect(fresh - closed <= 5)
        }
    }
}
