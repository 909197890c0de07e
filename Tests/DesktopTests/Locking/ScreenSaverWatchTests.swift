import FakeLogind
import Foundation
import TestSupport
import Testing

@testable import DBusClient
@testable import Desktop

@Suite("The screen saver", .timeLimit(.minutes(1)))
struct ScreenSaverWatchTests {
    private static let name = "org.freedesktop.ScreenSaver"

    /// Sends `ActiveChanged`, and waits until the bus has passed it on.
    private static func send(_ isActive: Bool, from client: BusClient) async throws {
        client.thread.perform { session in
            guard
                let message = BusMessage.signal(
                    path: "/org/freedesktop/ScreenSaver", interface: name, member: "ActiveChanged"),
                message.write({ $0.boolean(isActive) })
            else { return }
            _ = session.connection?.send(message)
        }
        _ = try await client.call(.bus("GetId")) { $0.string() }
    }

    @Test("locks when it begins, and its end unlocks nothing")
    func begins() async throws {
        let (bus, logind) = (try await TestBus(), try await FakeLogind())
        defer { logind.end() }
        let address = try #require(BusAddress.session(bus.environment))
        let saver = try await BusClient.connect(to: address, limits: BusLimits(messageBytes: 64 << 10))
        try await saver.own(Self.name)
        let watched = try WatchedLock(logind.address, session: address, lockOnScreenSaver: true)
        // Until the watch has subscribed, nobody gets the signal: it is repeated.
        while watched.events.count == 0 {
            try await Self.send(false, from: saver)
            try await Self.send(true, from: saver)
        }
        #expect(watched.events.all.allSatisfy { $0 == .locked(.screenSaver) })
    }

    @Test("without a session bus it is one line in the log, and logind is watched")
    func noBus() async throws {
        let logind = try await FakeLogind(sessions: [FakeSession("1")])
        defer { logind.end() }
        let watched = try WatchedLock(logind.address, session: nil, lockOnScreenSaver: true)
        #expect(try await watched.events.first() == .unlockedHint)
        #expect(try await watched.warnings.first() == "the screen saver cannot be watched")
    }

    @Test("is not asked for unless that is wanted")
    func notWanted() async throws {
        let folder = TemporaryFolder()
        let logind = try await FakeLogind(sessions: [FakeSession("1")])
        defer { logind.end() }
        // Its bus does not exist, and nobody notices.
        let session = BusAddress("unix:path=" + (folder / "none"))
        let watched = try WatchedLock(logind.address, session: session)
        try await watched.events.first()
        #expect(watched.warnings.all.isEmpty)
    }
}
