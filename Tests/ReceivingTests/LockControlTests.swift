import HandlerCatalog
import Logging
import Protection
import Sharing
import Synchronization
import TestSupport
import Testing

@testable import Receiving

@Suite("Locks in steps", .timeLimit(.minutes(1)))
struct LockControlTests {
    private let folder = TemporaryFolder()
    private let vault: Vault
    private let identities: VaultIdentities
    private let steps = Recorder<String>()

    init() throws {
        let keys = ProtectionFolder(path: folder / "keys")
        identities = try VaultIdentities.generate()
        try keys.setUp(keeping: identities, by: .keyring)
        vault = Vault(keys)
    }

    /// - Parameter reading: returns when no handler reads.
    private func desk(
        tell: @escaping @Sendable (LaunchRules.Notice) async -> Void = { _ in },
        reading: @escaping @Sendable () async -> Void = {}
    ) -> LockControl {
        let (vault, steps) = (vault, steps)
        return LockControl(
            vault,
            LockControl.Parts(
                tell: { notice in
                    steps.record("\(notice.rawValue) \(vault.isUnlocked) \(vault.canOpen(.unlessOpen))")
                    await tell(notice)
                },
                quiet: reading, locked: { steps.record("locked \(vault.isUnlocked)") }, waiting: { 3 },
                unlocked: { steps.record("unlocked \(vault.canOpen(.unlessOpen))") }),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    @Test("handlers are told while the key is there, nothing new is opened then, and the key goes after their calls")
    func order() async throws {
        let (asked, gate) = (Recorder<Bool>(), AsyncStream<Void>.makeStream())
        let desk = desk(reading: {
            asked.record(true)
            for await _ in gate.stream { break }
        })
        #expect(try await desk.unlock(identities) == 3)
        let locking = Task { await desk.lock(because: .screen, within: .seconds(3_600)) }
        try await asked.first { $0 }
        #expect(vault.isUnlocked && !vault.canOpen(.complete) && vault.canOpen(.untilFirstUnlock))
        gate.continuation.yield()
        await locking.value
        #expect(
            steps.all == [
                "protected-data-did-become-available true false", "unlocked true",
                "protected-data-will-become-unavailable true false", "locked false",
            ])
        #expect(vault.standing.cause == .screen && vault.standing.wasUnlocked)
    }

    @Test("a lock waits no longer than its time, and the sleep of the machine shortens one that is under way")
    func time() async throws {
        let (asked, stuck) = (Recorder<Bool>(), AsyncStream<Void>.makeStream())
        let desk = desk(reading: {
            asked.record(true)
            for await _ in stuck.stream {}
        })
        try await desk.unlock(identities)
        let locking = Task { await desk.lock(because: .screen, within: .seconds(3_600)) }
        try await asked.first { $0 }
        await desk.lock(because: .sleep, within: .milliseconds(1))
        #expect(!vault.isUnlocked)
        await locking.value
        #expect(vault.standing.cause == .screen)
    }

    @Test("a second lock joins the first and closes what it asks for, and an unlock waits for the end of both")
    func within() async throws {
        let (asked, gate) = (Recorder<Bool>(), AsyncStream<Void>.makeStream())
        let desk = desk(reading: {
            asked.record(true)
            for await _ in gate.stream { break }
        })
        try await desk.unlock(identities)
        let first = Task { await desk.lock(because: .command, within: .seconds(3_600)) }
        try await asked.first { $0 }
        #expect(vault.standing.isLocking && vault.standing.isUnlocked && vault.canOpen(.untilFirstUnlock))
        #expect(vault.standing.cause == .command)
        let second = Task { await desk.lock(all: true, because: .idle, within: .seconds(3_600)) }
        while vault.canOpen(.untilFirstUnlock) { await Task.yield() }
        let unlocking = Task { try await desk.unlock(identities) }
        gate.continuation.yield()
        await first.value
        await second.value
        _ = try await unlocking.value
        #expect(vault.canOpen(.complete) && !vault.standing.isLocking)
        #expect(
            steps.all.suffix(3) == [
                "locked false", "protected-data-did-become-available true false", "unlocked true",
            ])
    }

    @Test("an unlock waits for the lock before it, and an end needs no lock")
    func again() async throws {
        let desk = desk()
        try await desk.unlock(identities)
        await desk.lock(all: true, because: .command)
        #expect(!vault.standing.wasUnlocked)
        await desk.lock(because: .idle)
        #expect(vault.standing.cause == .command)
        try await desk.unlock(identities)
        #expect(vault.canOpen(.complete) && vault.standing.cause == nil)
        await desk.stop()
        #expect(vault.standing.cause == .stopping && !vault.standing.wasUnlocked)
    }
}
