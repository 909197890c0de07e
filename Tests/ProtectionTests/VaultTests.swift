import Age
import Foundation
import Secrets
import Sharing
import Streams
import Synchronization
import TestSupport
import Testing

@testable import Protection

@Suite("The vault of a receiver")
struct VaultTests {
    private let place = TemporaryFolder()
    private let passphrase = SecretBytes(text: "correct horse battery")
    private var folder: ProtectionFolder { .quick(place) }

    /// The header of a file that is sealed to keys.
    private func header(_ keys: [AgeRecipient]) throws -> AgeHeader {
        try AgeHeader(parsing: try AgeSealer(to: keys).header)
    }

    private func header(_ vault: Vault, _ protection: ProtectionClass) throws -> AgeHeader {
        try header(try vault.recipients(for: protection))
    }

    private func code(_ body: () throws -> Void) -> VaultError.Code? {
        do { try body() } catch { return (error as? VaultError)?.code }
        return nil
    }

    /// The classes that can be opened, as `fileKey` and `canOpen` say it.
    private func open(_ vault: Vault) -> [ProtectionClass] {
        ProtectionClass.allCases.filter { protection in
            let canOpen = vault.canOpen(protection)
            guard protection.isSealed else { return canOpen }
            let code = code { _ = try vault.fileKey(of: try header(vault, protection)) }
            #expect(code == (canOpen ? nil : .locked))
            return canOpen
        }
    }

    @Test("each class can be opened while its key is in memory: unlocked, locked again, and locked altogether")
    func classes() throws {
        let identities = try folder.setUp(passphrase: passphrase, recovery: [])
        let vault = Vault(folder)
        #expect(open(vault) == [.none])
        try vault.unlock(identities)
        #expect(open(vault) == [.none, .untilFirstUnlock, .unlessOpen, .complete])
        vault.lock(all: false)
        #expect(open(vault) == [.none, .untilFirstUnlock])
        vault.lock(all: true)
        #expect(open(vault) == [.none])
        try vault.unlock(identities.only(.sinceFirstUnlock), from: .credential)
        #expect(open(vault) == [.none, .untilFirstUnlock])
        #expect(vault.standing.mode == .credential)
        try vault.unlock(identities)
        #expect(open(vault).count == 4)
        #expect(vault.standing.mode == .passphrase)
    }

    @Test("items are sealed to the key of their class and to each recovery key")
    func recipients() throws {
        let recovery = try AgeIdentity.generate()
        let identities = try folder.setUp(passphrase: passphrase, recovery: [recovery.recipient])
        let vault = Vault(folder)
        let (first, last) = (identities.recipient(.sinceFirstUnlock), identities.recipient(.whileUnlocked))
        #expect(try vault.recipients(for: .none) == [])
        #expect(try vault.recipients(for: .untilFirstUnlock) == [first, recovery.recipient])
        #expect(try vault.recipients(for: .unlessOpen) == [last, recovery.recipient])
        #expect(try vault.recipients(for: .complete) == [last, recovery.recipient])
        let sealed = try header(vault, .complete)
        try vault.unlock(identities)
        #expect(try vault.fileKey(of: sealed).isEqual(to: try sealed.fileKey(with: [recovery])))
    }

    @Test("a drop box seals every class to its recipients, and opens nothing")
    func dropBox() throws {
        let owner = try AgeIdentity.generate()
        try folder.setUp(dropBox: [owner.recipient])
        let vault = Vault(folder)
        #expect(vault.standing.isSetUp && vault.standing.isDropBox && vault.standing.mode == nil)
        for protection in ProtectionClass.allCases where protection.isSealed {
            #expect(try vault.recipients(for: protection) == [owner.recipient])
            #expect(!vault.canOpen(protection))
        }
        let sealed = try header(vault, .complete)
        #expect(code { _ = try vault.fileKey(of: sealed) } == .noIdentity)
        #expect(code { try vault.unlock(try VaultIdentities.generate()) } == .noIdentity)
        #expect(throws: Never.self) { _ = try sealed.fileKey(with: [owner]) }
    }

    @Test("a file for other keys is foreign once everything is unlocked; until then it may be one of ours")
    func foreign() throws {
        let identities = try folder.setUp(passphrase: passphrase, recovery: [])
        let vault = Vault(folder)
        let sealed = try header([try AgeIdentity.generate().recipient])
        #expect(code { _ = try vault.fileKey(of: sealed) } == .locked)
        try vault.unlock(identities)
        #expect(code { _ = try vault.fileKey(of: sealed) } == .foreign)
        vault.lock(all: false)
        #expect(code { _ = try vault.fileKey(of: sealed) } == .locked)
    }

    @Test("a file whose header was changed at any byte is foreign, and no fault of the keys")
    func changedHeader() throws {
        let identities = try folder.setUp(passphrase: passphrase, recovery: [])
        let vault = Vault(folder)
        try vault.unlock(identities)
        let text = try header(vault, .unlessOpen).text
        var parsed = 0
        for index in text.indices {
            var changed = text
            changed[index] ^= 2
            guard let header = try? AgeHeader(parsing: changed) else { continue }
            parsed += 1
            #expect(code { _ = try vault.fileKey(of: header) } == .foreign, "byte \(index)")
        }
        #expect(parsed > 100)
    }

    @Test("after a rotation the old items can be opened, and new ones are sealed to new keys")
    func rotation() throws {
        let old = try folder.setUp(passphrase: passphrase, recovery: [])
        let vault = Vault(folder)
        let sealed = try header(vault, .unlessOpen)
        try vault.unlock(old)
        let new = try folder.rotate(passphrase: passphrase)
        #expect(code { try vault.reload() } == .swapped, "the new keys are not in memory")
        try vault.unlock(new)
        #expect(try vault.recipients(for: .unlessOpen) == [new.recipient(.whileUnlocked)])
        #expect(throws: Never.self) {
            _ = try vault.fileKey(of: sealed)
            _ = try vault.fileKey(of: try header(vault, .unlessOpen))
        }
    }

    @Test("public keys that another program has written unlock nothing, and are not used while unlocked")
    func swapped() throws {
        let identities = try folder.setUp(passphrase: passphrase, recovery: [])
        let vault = Vault(folder)
        let own = try vault.recipients(for: .complete)
        try vault.unlock(identities)
        try folder.write(try VaultIdentities.generate().recipients(keptBy: .passphrase))
        #expect(code { try vault.reload() } == .swapped)
        #expect(try vault.recipients(for: .complete) == own)
        vault.lock(all: true)
        #expect(code { try vault.unlock(identities) } == .swapped)
        #expect(!vault.standing.isUnlocked)
        let later = Vault(folder)
        #expect(code { try later.unlock(identities) } == .swapped)
    }

    @Test("keys of one role alone notice a recovery key that was added, and another key of the other role")
    func swappedForOneRole() throws {
        let recovery = try AgeIdentity.generate().recipient
        let identities = try folder.setUp(passphrase: passphrase, recovery: [recovery])
        let foreign = try AgeIdentity.generate()
        let (added, others) = (
            VaultIdentities(entries: identities.entries, recovery: [recovery, foreign.recipient]),
            VaultIdentities(
                entries: identities.entries.map { entry in
                    guard entry.role == .whileUnlocked else { return entry }
                    return VaultIdentities.Entry(role: entry.role, made: entry.made, identity: foreign)
                }, recovery: [recovery])
        )
        let one = identities.only(.sinceFirstUnlock)
        for bad in [added, others] {
            try folder.write(try bad.recipients(keptBy: .passphrase))
            let vault = Vault(folder)
            #expect(code { try vault.unlock(one, from: .credential) } == .swapped)
            #expect(!vault.standing.wasUnlocked)
        }
        try folder.restore(identities, keeper: .passphrase)
        let vault = Vault(folder)
        try vault.unlock(one, from: .credential)
        try folder.write(try added.recipients(keptBy: .passphrase))
        #expect(code { try vault.reload() } == .swapped)
        #expect(try !vault.recipients(for: .complete).contains(foreign.recipient))
    }

    @Test("public keys of before a rotation unlock nothing")
    func retiredKeys() throws {
        let old = try folder.setUp(passphrase: passphrase, recovery: [])
        let new = try folder.rotate(passphrase: passphrase)
        try folder.restore(old, keeper: .passphrase)
        let vault = Vault(folder)
        #expect(code { try vault.unlock(new) } == .swapped)
        try folder.restore(new, keeper: .passphrase)
        try vault.unlock(new)
        try folder.restore(old, keeper: .passphrase)
        #expect(code { try vault.reload() } == .swapped)
    }

    @Test("while it is held, nobody begins to read, and those who have begun read on")
    func held() throws {
        let identities = try folder.setUp(passphrase: passphrase, recovery: [])
        let vault = Vault(folder)
        try vault.unlock(identities, isHeld: true)
        for _ in 0..<2 {
            #expect(open(vault) == [.none, .untilFirstUnlock])
            let sealed = try header(vault, .complete)
            #expect(throws: Never.self) {
                _ = try vault.fileKey(of: sealed, for: .admitted)
                _ = try vault.fileKey(of: sealed, for: .recognising)
            }
            vault.release()
            #expect(open(vault).count == 4)
            vault.hold()
        }
        #expect(vault.hasKeys(for: .complete) && vault.standing.isLocking && vault.standing.isUnlocked)
        vault.hold(all: true)
        #expect(open(vault) == [.none] && vault.hasKeys(for: .untilFirstUnlock))
        let sealed = try header(vault, .untilFirstUnlock)
        #expect(code { _ = try vault.fileKey(of: sealed) } == .locked)
        vault.lock(all: true)
        #expect(!vault.standing.isLocking && !vault.hasKeys(for: .untilFirstUnlock))
    }

    @Test("only an item that was opened for a person or a handler postpones the lock of an idle receiver")
    func idleTime() throws {
        let identities = try folder.setUp(passphrase: passphrase, recovery: [])
        let vault = Vault(folder)
        try vault.unlock(identities)
        let unlocked = vault.lastUse
        let (own, foreign) = (try header(vault, .complete), try header([try AgeIdentity.generate().recipient]))
        _ = try vault.fileKey(of: own, for: .recognising)
        #expect(code { _ = try vault.fileKey(of: foreign) } == .foreign)
        #expect(vault.lastUse == unlocked)
        _ = try vault.fileKey(of: own)
        let read = vault.lastUse
        #expect(read > unlocked)
        _ = try vault.fileKey(of: own, for: .admitted)
        #expect(vault.lastUse > read)
    }

    @Test("without keys nothing is sealed and nothing unlocked, and damaged keys say why each time")
    func missing() throws {
        let vault = Vault(folder)
        #expect(code { _ = try vault.recipients(for: .complete) } == .notSetUp)
        #expect(try vault.recipients(for: .none) == [])
        #expect(code { try vault.unlock(try VaultIdentities.generate()) } == .notSetUp)
        let identities = try folder.setUp(passphrase: passphrase, recovery: [])
        try vault.reload()
        #expect(vault.standing.isSetUp)
        try "hello\n".write(toFile: folder.recipientsPath, atomically: false, encoding: .utf8)
        #expect(code { try vault.reload() } == .damaged)
        #expect(try vault.recipients(for: .complete).count == 1, "the keys of before are in use")
        let later = Vault(folder)
        #expect(code { _ = try later.recipients(for: .complete) } == .damaged)
        #expect(code { try later.check() } == .damaged)
        #expect(code { try later.unlock(identities) } == .damaged)
    }

    @Test("each change is told once, in order, with its time, and no other call is a change")
    func changes() async throws {
        let identities = try folder.setUp(passphrase: passphrase, recovery: [])
        let clock = Mutex<Int64>(0)
        let vault = Vault(
            folder,
            now: {
                clock.withLock {
                    $0 += 1
                    return WallTime(milliseconds: $0)
                }
            })
        var changes = vault.changes.watch().makeAsyncIterator()
        vault.lock(all: true)
        try vault.unlock(identities)
        try vault.unlock(identities)
        vault.lock(all: false)
        vault.lock(all: false)
        vault.lock(all: true)
        for (number, isUnlocked, wasUnlocked) in [(2, true, true), (3, false, true), (4, false, false)] {
            let next = await changes.next()
            #expect(next?.since == WallTime(milliseconds: Int64(number)))
            #expect(next?.isUnlocked == isUnlocked && next?.wasUnlocked == wasUnlocked)
        }
        #expect(vault.standing.since == WallTime(milliseconds: 4))
    }

    @Test("the memory is guarded from the set-up on, also while it is locked: what comes is in it before it is sealed")
    func guardedMemory() throws {
        let guarded = Mutex<[Bool]>([])
        let vault = Vault(folder, guardMemory: { isSecret in guarded.withLock { $0.append(isSecret) } })
        #expect(guarded.withLock { $0 } == [])
        let identities = try folder.setUp(passphrase: passphrase, recovery: [])
        try vault.reload()
        #expect(guarded.withLock { $0.last } == true)
        try vault.unlock(identities)
        vault.lock(all: true)
        #expect(guarded.withLock { $0.last } == true)
        let next = Mutex<[Bool]>([])
        _ = Vault(folder, guardMemory: { isSecret in next.withLock { $0.append(isSecret) } })
        #expect(next.withLock { $0 } == [true])
    }
}
