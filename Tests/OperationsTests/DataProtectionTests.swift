import Age
import Control
import Foundation
import Lines
import Protection
import Secrets
import Settings
import Synchronization
import TestSupport
import Testing

@testable import Operations

/// A keyring in memory.
private final class FakeKeyring: IdentityKeeper {
    private let text = Mutex<SecretBytes?>(nil)

    func fetch() async throws -> SecretBytes? { text.withLock { $0 } }

    func store(_ text: SecretBytes) async throws { self.text.withLock { $0 = text } }
}

@Suite("What a user can do with data protection")
struct DataProtectionTests {
    private let kitchen: Kitchen
    private let protection: DataProtection
    private let keyring = FakeKeyring()
    /// A key of somebody else.
    private let other: String

    init() throws {
        kitchen = try Kitchen(jobs: 0)
        protection = DataProtection(kitchen.waft, keyring: keyring)
        let stranger = try VaultIdentities.generate()
        other = try #require(stranger.recipient(.whileUnlocked)).description
    }

    private func lock(_ change: (inout LockLine) -> Void = { _ in }) -> LockLine {
        var lock = LockLine(protection: "complete")
        change(&lock)
        return lock
    }

    /// The names of the requests that the receiver gets.
    private func asked(
        _ answer: LockLine, _ body: @escaping @Sendable () async throws -> Void
    ) async throws -> [String] {
        let asked = Recorder<String>()
        try await kitchen.withReceiver { request in
            switch request {
            case .protection(.status): asked.record("status")
            case .protection(.unlock): asked.record("unlock")
            case .protection(.reload): asked.record("reload")
            case .protection(.lock(let all)): asked.record(all ? "lock all" : "lock")
            default: asked.record("\(request)")
            }
            return .protection(answer)
        } _: {
            try await body()
        }
        return asked.all
    }

    @Test("keys in the keyring are set up, made anew, and restored")
    func keyringKeys() async throws {
        #expect(try await protection.status().setUp == false)
        try await protection.setUp(try protection.given(dropBox: [], recovery: [other]), keeper: .keyring)
        let line = try await protection.status()
        #expect(line.setUp && !line.dropBox && line.recoveryRecipients == [other] && !line.daemon)
        #expect(line.identityPath == nil && line.passphraseFile == nil && line.lock.keysFrom == "keyring")
        #expect(try protection.keeper() == .keyring && protection.likelyKeeper == .keyring)
        let old = try await protection.keysOfKeyring()
        _ = try await protection.rotate(passphrase: nil)
        let new = try await protection.keysOfKeyring()
        #expect(new.identities.lines.count > old.identities.lines.count, "the old keys still open what is there")
        try FileManager.default.removeItem(atPath: line.recipientsPath)
        #expect(try await protection.restore(new, of: .keyring).setUp)
        try protection.check(new)
        #expect(try protection.export().openCommand?.hasPrefix("secret-tool lookup") == true)
    }

    @Test("a passphrase opens the keys, and another one does not")
    func passphrase() async throws {
        let (right, wrong) = (SecretBytes("five good words".utf8), SecretBytes("five other words".utf8))
        try await protection.setUp(try protection.given(dropBox: [], recovery: []), keeper: .passphrase(right))
        let line = try await protection.status()
        #expect(line.identityPath != nil && line.passphraseFile == line.identityPath)
        #expect(try protection.keeper() == .passphrase && protection.likelyKeeper == .passphrase)
        try protection.checkHasPassphrase()
        #expect(try protection.export().identityPath == line.identityPath)
        let refused = await #expect(throws: WaftError.self) {
            try await protection.changePassphrase(from: wrong, to: right)
        }
        #expect(refused?.code == .locked)
        try protection.check(try protection.keys(passphrase: right).get())
    }

    @Test("a drop box has no private keys here")
    func dropBox() async throws {
        try await protection.setUp(try protection.given(dropBox: [other], recovery: []), keeper: .elsewhere)
        let line = try await protection.status()
        #expect(line.dropBox && line.recoveryRecipients == [other] && line.lock.keysFrom == nil)
        #expect(throws: WaftError.isDropBox) { try protection.keeper() }
        let export = try protection.export()
        #expect(export.identityPath == nil && export.openCommand == nil)
    }

    @Test("a running receiver gets new keys if it was unlocked or is to be, and otherwise reads the public ones")
    func told() async throws {
        #expect(
            try await asked(lock()) {
                try await protection.setUp(try protection.given(dropBox: [], recovery: []), keeper: .keyring)
            } == ["status", "unlock"])
        #expect(
            try await asked(lock()) { _ = try await protection.rotate(passphrase: nil) } == ["status", "reload"])
        let open = try await asked(lock { $0.unlocked = true }) { _ = try await protection.rotate(passphrase: nil) }
        #expect(open == ["status", "unlock"])
        let keys = try await protection.keysOfKeyring()
        let isDone = try await asked(lock { $0.unlocked = true }) {
            let done = [
                try await protection.unlock(keys), try await protection.lock(all: true),
                try await protection.lockStanding(),
            ]
            #expect(done.map(\.event) == ["unlocked", "locked", "unlocked"])
        }
        #expect(isDone == ["unlock", "lock all", "status"])
    }

    @Test("a refusal of the receiver has its exit code, and advice if there is any")
    func receiverRefuses() async throws {
        let answers: [(ControlReply, WaftExit, String)] = [
            (.locked("it was locked again"), .locked, "it was locked again"),
            (.refused("the keys are damaged"), .unexpected, "the keys are damaged"),
            (.done, .unexpected, "the receiver gave no answer about data protection"),
            (.protection(lock { $0.isSetUp = false }), .usage, "data protection is not set up"),
        ]
        for (answer, code, reason) in answers {
            try await kitchen.withReceiver { _ in
                answer
            } _: {
                let error = await #expect(throws: WaftError.self) { try await protection.lock(all: false) }
                #expect(error?.code == code && error?.reason == reason)
            }
        }
        let error = await #expect(throws: WaftError.self) { try await protection.lockStanding() }
        #expect(error?.code == .notRunning)
    }

    @Test("a refusal has its exit code")
    func refusals() async throws {
        #expect(throws: WaftError.notSetUp) { try protection.checkIsSetUp() }
        #expect(throws: WaftError.notSetUp) { try protection.export() }
        #expect(throws: WaftError.notSetUp) { try protection.checkHasPassphrase() }
        let empty = await #expect(throws: WaftError.self) { try await protection.keysOfKeyring() }
        #expect(empty?.code == .locked && empty?.hint == "unlock the keyring of your desktop first")
        for keys in [["age1nonsense"], Array(repeating: other, count: 9)] {
            let error = #expect(throws: WaftError.self) { try protection.given(dropBox: keys, recovery: []) }
            #expect(error?.code == .usage)
        }
        try await protection.setUp(try protection.given(dropBox: [], recovery: []), keeper: .keyring)
        let twice = #expect(throws: WaftError.self) { try protection.given(dropBox: [], recovery: []) }
        #expect(twice?.code == .usage && twice?.hint?.hasPrefix("to change it: ") == true)
        let passphrase = #expect(throws: WaftError.self) { try protection.checkHasPassphrase() }
        #expect(passphrase?.hint == "to make new keys: waft protection rotate")
        try FileManager.default.removeItem(atPath: kitchen.home.protection)
        let given = try protection.given(dropBox: [], recovery: [])
        let full = await #expect(throws: WaftError.self) { try await protection.setUp(given, keeper: .keyring) }
        #expect(full?.reason == "the keyring has private keys of Waft already")
    }

    @Test(
        "the words for people are not in the document for programs, and the fields of the lock are in one with others")
    func documents() {
        var line = ProtectionLine(setUp: true, recipientsPath: "/r", lock: lock { $0.unlocked = true }, daemon: true)
        line.passphraseFile = "/i"
        #expect(
            line.json == #"{"daemon":true,"dropBox":false,"event":"protection","protection":"complete","#
                + #""recipientsPath":"/r","recoveryRecipients":[],"setUp":true,"unlocked":true,"unlockedOnce":false,"v":1}"#
        )
        #expect(lock { $0.locking = true }.json.contains(#""event":"locking""#))
        #expect(lock { $0.outcome = .locked }.json.contains(#""event":"locked""#))
    }
}
