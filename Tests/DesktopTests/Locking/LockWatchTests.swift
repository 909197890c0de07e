import DBusClient
import FakeLogind
import Foundation
import TestSupport
import Testing

@testable import Desktop

@Suite("Whether the machine is locked", .timeLimit(.minutes(1)))
struct LockWatchTests {
    private static let session = FakeSession("1")
    private static let lockedSession = FakeSession("1", isLocked: true)

    @Test("the hint of a graphical session locks, and its end is reported")
    func hint() async throws {
        let logind = try await FakeLogind(sessions: [Self.session])
        defer { logind.end() }
        let watched = try WatchedLock(logind.address)
        #expect(try await watched.events.element(1) == .unlockedHint)
        logind.change(Self.lockedSession)
        #expect(try await watched.events.element(2) == .locked(.screen))
        logind.change(Self.session)
        #expect(try await watched.events.element(3) == .unlockedHint)
    }

    @Test("a screen that is locked at the start is reported")
    func lockedAtStart() async throws {
        let logind = try await FakeLogind(sessions: [Self.lockedSession])
        defer { logind.end() }
        let watched = try WatchedLock(logind.address)
        #expect(try await watched.events.first() == .locked(.screen))
    }

    @Test("a hint that is gone before anybody can ask for it is a lock")
    func shortLock() async throws {
        let logind = try await FakeLogind(sessions: [Self.session])
        defer { logind.end() }
        let watched = try WatchedLock(logind.address)
        try await watched.events.first { $0 == .unlockedHint }
        // The properties that can be read never say it.
        logind.send(.changed(Self.lockedSession))
        #expect(try await watched.events.element(2) == .locked(.screen))
    }

    @Test("the signal Lock locks, and the signal Unlock is not heard")
    func signals() async throws {
        let logind = try await FakeLogind(sessions: [Self.lockedSession])
        defer { logind.end() }
        let watched = try WatchedLock(logind.address)
        try await watched.events.element(1)
        logind.send(.unlock(session: "1"))
        logind.send(.lock(session: "1"))
        try await watched.events.element(2)
        #expect(watched.events.all == [.locked(.screen), .locked(.request)])
    }

    @Test("the signal Lock locks for a session without a screen too, whose hint says nothing")
    func terminal() async throws {
        let session = FakeSession("1", type: "tty")
        let logind = try await FakeLogind(sessions: [session])
        defer { logind.end() }
        let watched = try WatchedLock(logind.address)
        try await logind.heard.first { $0 == .read("1") }
        var locked = session
        locked.isLocked = true
        logind.change(locked)
        logind.send(.lock(session: "1"))
        try await watched.events.element(1)
        #expect(watched.events.all == [.locked(.request)])
    }

    @Test("sessions of other users and of greeters say nothing, and the hint of a terminal's neither")
    func otherSessions() async throws {
        let others = [
            FakeSession("other", user: geteuid() + 1), FakeSession("greeter", userClass: "greeter"),
            FakeSession("terminal", type: "tty"),
        ]
        let logind = try await FakeLogind(sessions: others)
        defer { logind.end() }
        let watched = try WatchedLock(logind.address)
        // Those of other users are not even read.
        try await logind.heard.first { $0 == .read("terminal") }
        #expect(!logind.heard.all.contains(.read("other")))
        for var session in others {
            if session.type != "tty" { logind.send(.lock(session: session.id)) }
            session.isLocked = true
            logind.change(session)
            logind.end(session)
        }
        // A new session of another user: it is read, and passed over.
        logind.begin(FakeSession("late", user: geteuid() + 1, isLocked: true))
        logind.begin(Self.session)
        try await watched.events.element(1)
        #expect(watched.events.all == [.unlockedHint])
    }

    @Test("the end of the last graphical session locks, and one that begins later is watched")
    func sessionsComeAndGo() async throws {
        let logind = try await FakeLogind(sessions: [Self.session])
        defer { logind.end() }
        let watched = try WatchedLock(logind.address)
        try await watched.events.element(1)
        let second = FakeSession("2", type: "x11")
        logind.begin(second)
        try await logind.heard.first { $0 == .read("2") }
        logind.end(Self.session)
        logind.end(second)
        #expect(try await watched.events.element(2) == .locked(.nobody))
        logind.begin(FakeSession("3"))
        #expect(try await watched.events.element(3) == .unlockedHint)
        logind.send(.lock(session: "3"))
        #expect(try await watched.events.element(4) == .locked(.request))
    }

    @Test("a server without a graphical session is not locked for that")
    func server() async throws {
        let logind = try await FakeLogind()
        defer { logind.end() }
        let watched = try WatchedLock(logind.address)
        try await logind.heard.first { $0 == .listed }
        logind.send(.sleep(true))
        try await watched.events.element(1)
        #expect(watched.events.all == [.locked(.sleep)])
    }

    @Test("sleep waits until the data is locked, and the next sleep too")
    func sleep() async throws {
        let logind = try await FakeLogind(sessions: [Self.session])
        defer { logind.end() }
        let isWiped = Gate()
        let watched = try WatchedLock(logind.address) { if $0 == .locked(.sleep) { await isWiped.wait() } }
        try await watched.events.element(1)
        await watched.watch.delaySleep(true)
        #expect(await watched.watch.isDelayingSleep)
        // Its answer can come before the record of the question.
        try await logind.heard.first { $0 == .inhibit(["sleep", "Waft", "Protected data is locked first", "delay"]) }
        logind.send(.sleep(true))
        #expect(try await watched.events.element(2) == .locked(.sleep))
        #expect(await watched.watch.isDelayingSleep)
        #expect(!logind.heard.all.contains(.released))
        isWiped.open()
        try await logind.heard.first { $0 == .released }
        // No lock is requested between the announcement of a sleep and its end.
        await watched.watch.delaySleep(true)
        #expect(await !watched.watch.isDelayingSleep)
        let count = logind.heard.count
        logind.send(.sleep(false))
        guard case .inhibit = try await logind.heard.element(count + 1) else {
            Issue.record("no new delay is requested after the sleep")
            return
        }
    }

    @Test("sleep is delayed only while that is wanted")
    func noDelay() async throws {
        let logind = try await FakeLogind()
        defer { logind.end() }
        let watched = try WatchedLock(logind.address)
        await watched.watch.delaySleep(true)
        await watched.watch.delaySleep(false)
        #expect(await !watched.watch.isDelayingSleep)
        try await logind.heard.first { $0 == .released }
        // It listens by then.
        try await logind.heard.first { $0 == .listed }
        logind.send(.sleep(true))
        try await watched.events.first { $0 == .locked(.sleep) }
    }

    @Test("the end of the watch ends the delay")
    func endOfDelay() async throws {
        let logind = try await FakeLogind()
        defer { logind.end() }
        let watched = try WatchedLock(logind.address)
        await watched.watch.delaySleep(true)
        await watched.end()
        try await logind.heard.first { $0 == .released }
    }

    @Test("a signal of a program that is not logind is not heard, also when logind has gone")
    func forged() async throws {
        let logind = try await FakeLogind(sessions: [Self.session])
        defer { logind.end() }
        let watched = try WatchedLock(logind.address)
        try await watched.events.element(1)
        for signal: FakeLogind.Signal in [
            .sleep(true), .lock(session: "1"), .changed(Self.lockedSession), .ended(Self.session),
        ] {
            logind.forge(signal)
        }
        logind.send(.lock(session: "1"))
        #expect(try await watched.events.element(2) == .locked(.request))
        logind.leave()
        #expect(try await watched.events.element(3) == .lost(.logind))
        // The old owner is a program like any other one.
        logind.send(.sleep(true))
        logind.forge(.sleep(true))
        logind.comeBack()
        #expect(try await watched.events.element(4) == .back)
        #expect(try await watched.events.element(5) == .unlockedHint)
    }

    @Test("a logind that leaves is a loss, and the one that comes is asked for everything again")
    func logindRestarts() async throws {
        let logind = try await FakeLogind(sessions: [Self.session])
        defer { logind.end() }
        let watched = try WatchedLock(logind.address)
        try await watched.events.element(1)
        await watched.watch.delaySleep(true)
        logind.leave()
        try await watched.events.first { $0 == .lost(.logind) }
        logind.change(Self.lockedSession)
        logind.comeBack()
        try await watched.events.element(4)
        #expect(watched.events.all == [.unlockedHint, .lost(.logind), .back, .locked(.screen)])
        try await logind.heard.first { $0 == .released }
        // The new one is asked for a delay too.
        while true {
            let heard = logind.heard.all
            if heard.count(where: { if case .inhibit = $0 { true } else { false } }) == 2 { break }
            try await logind.heard.element(heard.count + 1)
        }
        #expect(watched.warnings.all.isEmpty)
    }

    @Test("the end of the bus is a loss, and a new bus is found")
    func busRestarts() async throws {
        let folder = TemporaryFolder()
        let logind = try await FakeLogind(sessions: [Self.session], in: folder)
        let watched = try WatchedLock(logind.address)
        try await watched.events.element(1)
        logind.end()
        #expect(try await watched.events.element(2) == .lost(.bus))
        let next = try await FakeLogind(sessions: [Self.session], in: folder)
        defer { next.end() }
        try await watched.events.element(4)
        #expect(watched.events.all == [.unlockedHint, .lost(.bus), .back, .unlockedHint])
    }

    @Test("without a bus or logind one line says so, and what comes later is watched")
    func nothingThere() async throws {
        let folder = TemporaryFolder()
        let watched = try WatchedLock("unix:path=" + (folder / "bus"))
        try await watched.warnings.element(1)
        let logind = try await FakeLogind(sessions: [Self.session], isThere: false, in: folder)
        defer { logind.end() }
        logind.comeBack()
        #expect(try await watched.events.element(1) == .unlockedHint)
        #expect(watched.warnings.count == 1)
    }

    @Test("it ends when it is cancelled, also while a bus is silent")
    func cancelled() async throws {
        let folder = TemporaryFolder()
        let silent = try SilentSocket(folder / "bus")
        let watched = try WatchedLock("unix:path=" + (folder / "bus"))
        await silent.connected()
        await watched.end()
    }
}
