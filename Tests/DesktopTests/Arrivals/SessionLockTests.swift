import DBusClient
import FakeLogind
import TestSupport
import Testing

@testable import Desktop

@Suite("The lock of the session", .timeLimit(.minutes(1)))
struct SessionLockTests {
    @Test("is read from logind, and its end is noticed")
    func locked() async throws {
        let logind = try await FakeLogind(isLocked: true)
        defer { logind.end() }
        let lock = SessionLock(bus: try #require(BusAddress(logind.address)))
        #expect(await lock.isLocked())
        let waiting = Task { await lock.unlocked() }
        // The hint is asked for when the signal is subscribed.
        _ = try await logind.heard.element(3)
        logind.unlock()
        #expect(await waiting.value)
        #expect(await !lock.isLocked())
    }

    @Test("is open without a bus")
    func noBus() async throws {
        let folder = TemporaryFolder()
        let lock = SessionLock(bus: try #require(BusAddress("unix:path=" + (folder / "none"))))
        #expect(await !lock.isLocked())
        #expect(await !lock.unlocked())
    }
}
