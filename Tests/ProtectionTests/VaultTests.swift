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

    @Test("the memory is guarded for as long as there is a private key in it")
    func guardedMemory() throws {
        let identities = try folder.setUp(passphrase: passphrase, recovery: [])
        let guarded = Mutex<[Bool]>([])
        let vault = Vault(folder, guardMemory: { isSecret in guarded.withLock { $0.append(isSecret) } })
        try vault.unlock(identities)
        vault.lock(all: false)
        #expect(guarded.withLock { $0 } == [true])
        vault.lock(all: true)
        #expect(guarded.withLock { $0.last } == false)
    }
}
