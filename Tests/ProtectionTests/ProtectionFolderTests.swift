import Age
import Foundation
import Secrets
import Sharing
import TestSupport
import Testing

@testable import Protection

extension ProtectionFolder {
    /// A folder whose passphrase costs no time.
    static func quick(_ folder: TemporaryFolder) -> ProtectionFolder {
        ProtectionFolder(path: folder / "protection", workFactor: 2)
    }
}

extension SecretBytes {
    convenience init(text: String) { self.init(Array(text.utf8)) }

    var text: String { String(decoding: revealed, as: UTF8.self) }
}

@Suite("The folder of the keys")
struct ProtectionFolderTests {
    private let place = TemporaryFolder()
    private let passphrase = SecretBytes(text: "correct horse battery")
    private var folder: ProtectionFolder { .quick(place) }

    private func code(_ body: () throws -> Void) -> VaultError.Code? {
        do { try body() } catch { return (error as? VaultError)?.code }
        return nil
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test("a set-up can be read again, with the passphrase and the recovery keys, in files of this user alone")
    func roundTrip() throws {
        let recovery = try AgeIdentity.generate().recipient
        #expect(try folder.recipients() == nil)
        let made = try folder.setUp(passphrase: passphrase, recovery: [recovery])
        let recipients = try #require(try folder.recipients())
        #expect(recipients.others == [recovery] && recipients.own?.keeper == .passphrase)
        let read = try folder.identities(passphrase: passphrase)
        #expect(read.text.isEqual(to: made.text))
        #expect(read.recovery == [recovery] && read.match(recipients))
        #expect(try mode(folder.path) == 0o700)
        #expect(try mode(folder.identityPath) == 0o600)
        #expect(try mode(folder.recipientsPath) == 0o644)
        #expect(code { _ = try folder.identities(passphrase: SecretBytes(text: "another one")) } == .wrongPassphrase)
        #expect(code { _ = try folder.setUp(passphrase: passphrase, recovery: []) } == .alreadySetUp)
    }

    @Test("a passphrase has eight characters, however many bytes they are")
    func shortPassphrases() throws {
        #expect(ProtectionFolder.characters(of: SecretBytes(text: "grün")) == 4)
        #expect(code { _ = try folder.setUp(passphrase: SecretBytes(text: "grüngrü"), recovery: []) } == .unfit)
        _ = try folder.setUp(passphrase: SecretBytes(text: "grüngrün"), recovery: [])
    }

    @Test("a new passphrase opens the same keys, and the old one none")
    func newPassphrase() throws {
        let made = try folder.setUp(passphrase: passphrase, recovery: [])
        let new = SecretBytes(text: "another passphrase")
        #expect(code { try folder.changePassphrase(from: new, to: new) } == .wrongPassphrase)
        try folder.changePassphrase(from: passphrase, to: new)
        #expect(try folder.identities(passphrase: new).text.isEqual(to: made.text))
        #expect(code { _ = try folder.identities(passphrase: passphrase) } == .wrongPassphrase)
    }

    @Test("a rotation makes new keys in front of the old ones, as often as there is room")
    func rotation() throws {
        let old = try folder.setUp(passphrase: passphrase, recovery: [])
        let new = try folder.rotate(passphrase: passphrase)
        #expect(new.entries.count == 4 && new.recipient(.whileUnlocked) != old.recipient(.whileUnlocked))
        #expect(new.entries.dropFirst(2).map(\.identity.recipient) == old.entries.map(\.identity.recipient))
        #expect(try folder.recipients()?.own?[.whileUnlocked] == new.recipient(.whileUnlocked))
        for _ in 2..<VaultIdentities.maximumAges { _ = try folder.rotate(passphrase: passphrase) }
        #expect(code { _ = try folder.rotate(passphrase: passphrase) } == .unfit)
        #expect(try folder.identities(passphrase: passphrase).entries.count == 2 * VaultIdentities.maximumAges)
    }

    @Test("an interrupted rotation has not begun, or is finished when the keys are read", arguments: [false, true])
    func interrupted(_ hasRecipients: Bool) throws {
        let old = try folder.setUp(passphrase: passphrase, recovery: [])
        let new = try old.rotated()
        // As far as a rotation comes that is cut off.
        #expect(throws: VaultError.self) {
            try folder.write(new, passphrase: passphrase) { () throws(VaultError) in
                if hasRecipients { try folder.write(try new.recipients(keptBy: .passphrase)) }
                throw VaultError(.storage, "cut off")
            }
        }
        let read = try folder.identities(passphrase: passphrase)
        #expect(read.text.isEqual(to: (hasRecipients ? new : old).text))
        #expect(throws: Never.self) { try folder.check(read) }
        #expect(try folder.identities(passphrase: passphrase).text.isEqual(to: read.text))
        // As far as a new file comes: it is removed by the next one.
        try "half".write(toFile: folder.identityPath + ".new", atomically: false, encoding: .utf8)
        _ = try folder.rotate(passphrase: passphrase)
        #expect(try folder.identities(passphrase: passphrase).entries.count == (hasRecipients ? 6 : 4))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["identity.age", "recipients"])
    }

    @Test("public keys of before a rotation that were put back are noticed, and a restore puts back the newest")
    func retiredKeys() throws {
        let old = try folder.setUp(passphrase: passphrase, recovery: [])
        let first = try folder.rotate(passphrase: passphrase)
        let newest = try folder.rotate(passphrase: passphrase)
        for keys in [old, first] {
            try folder.write(try keys.recipients(keptBy: .passphrase))
            let error = #expect(throws: VaultError.self) { try folder.check(newest) }
            #expect(error?.code == .swapped && error?.description.contains("before a rotation") == true)
            #expect(code { _ = try folder.rotate(passphrase: passphrase) } == .swapped)
        }
        // An earlier rotation's new file, kept by another program, is no interrupted rotation.
        let (mark, current) = (folder.identityPath + ".new", try Data(contentsOf: URL(filePath: folder.identityPath)))
        try folder.write(first, passphrase: passphrase)
        try FileManager.default.moveItem(atPath: folder.identityPath, toPath: mark)
        try current.write(to: URL(filePath: folder.identityPath))
        #expect(try folder.identities(passphrase: passphrase).text.isEqual(to: newest.text))
        #expect(code { try folder.check(newest) } == .swapped)
        try folder.restore(newest, keeper: .passphrase)
        #expect(throws: Never.self) { try folder.check(newest) }
    }

    @Test("private keys without public ones are no missing set-up: they are kept, and can be made whole")
    func missingRecipients() throws {
        let made = try folder.setUp(passphrase: passphrase, recovery: [])
        try FileManager.default.removeItem(atPath: folder.recipientsPath)
        #expect(code { _ = try folder.recipients() } == .damaged)
        #expect(code { _ = try folder.setUp(passphrase: passphrase, recovery: []) } == .damaged)
        try folder.restore(made, keeper: .passphrase)
        #expect(try folder.recipients()?.own?[.whileUnlocked] == made.recipient(.whileUnlocked))
    }

    @Test("public keys of another program are noticed, as is one that was added or taken away")
    func swapped() throws {
        let recovery = try AgeIdentity.generate().recipient
        let made = try folder.setUp(passphrase: passphrase, recovery: [recovery])
        let foreign = try VaultIdentities.generate(recovery: [recovery])
        for bad in [
            try foreign.recipients(keptBy: .passphrase),
            try VaultIdentities(entries: made.entries, recovery: []).recipients(keptBy: .passphrase),
            try VaultIdentities(entries: made.entries, recovery: [recovery, try AgeIdentity.generate().recipient])
                .recipients(keptBy: .passphrase),
            try ProtectionRecipients(own: nil, others: [recovery]),
        ] {
            try folder.write(bad)
            #expect(code { try folder.check(made) } == .swapped)
            #expect(code { _ = try folder.rotate(passphrase: passphrase) } == .swapped)
        }
        try folder.restore(made, keeper: .passphrase)
        #expect(throws: Never.self) { try folder.check(made) }
    }

    @Test(
        "a damaged file of public keys is an error with its line, and never no protection",
        arguments: [
            ("", "keys are missing"), ("# nothing\n", "keys are missing"), ("kept  passphrase\n", "keys are missing"),
            ("age1xyz  L\n", "line 1: it has no key of age"), ("KEY  L\n", "keys are missing"),
            ("KEY  X\n", "line 1: a key has no such role"), ("KEY\n", "line 1: it is not a key and its role"),
            ("KEY  L\nKEY  L\n", "line 2: there are two keys L"),
            ("# L\nKEY\n# L\nKEY\n", "line 4: there are two keys L"),
            ("# L\nKEY\nKEY\n", "line 3: it is not a key and its role"), ("# X\nKEY\n", "line 2: it is not a key"),
            ("# L\nage1xyz\n", "line 2: it has no key of age"), ("# kept  cellar\n", "line 1: it names no keeper"),
            ("# kept  passphrase\n", "keys are missing"), ("kept  cellar\n", "line 1: it names no keeper"),
            ("KEY  recipient\nKEY  recipient\n", "a recipient is given twice"),
            ("KEY  recipient\nKEY  recovery\n", "keys are missing"), ("\u{FFFD}\n", "it is not a key and its role"),
        ])
    func damaged(_ text: String, _ reason: String) throws {
        let key = try AgeIdentity.generate().recipient.description
        _ = try folder.setUp(passphrase: passphrase, recovery: [])
        try text.replacing("KEY", with: key).write(toFile: folder.recipientsPath, atomically: false, encoding: .utf8)
        let error = #expect(throws: VaultError.self) { _ = try folder.recipients() }
        #expect(error?.code == .damaged && error?.description.contains(reason) == true, "\(String(describing: error))")
    }

    @Test(
        "a recipient that Waft does not take is refused by the name of its kind, and no private key is repeated",
        arguments: [
            ("ssh-ed25519 AAAA", "SSH"), ("age1pq1xyz", "hybrid"), ("age1yubikey1xyz", "plugin"),
            ("AGE-SECRET-KEY-1QQQ", "secret key"), ("hello", "not a public key"), ("", "not a public key"),
        ])
    func refusedRecipients(_ text: String, _ reason: String) {
        let error = #expect(throws: VaultError.self) { _ = try ProtectionRecipients.read(text) }
        #expect(error?.code == .unfit && error?.description.contains(reason) == true, "\(String(describing: error))")
        #expect(error?.description.contains("QQQ") != true)
    }

    @Test("at most eight keys of others are taken, and each once")
    func manyRecipients() throws {
        let keys = try (0..<9).map { _ in try AgeIdentity.generate().recipient }
        #expect(code { try folder.setUp(dropBox: keys) } == .unfit)
        #expect(code { try folder.setUp(dropBox: [keys[0], keys[0]]) } == .unfit)
        #expect(code { try folder.setUp(dropBox: []) } == .unfit)
        try folder.setUp(dropBox: Array(keys.dropLast()))
        #expect(try folder.recipients()?.others == Array(keys.dropLast()))
        #expect(code { _ = try folder.identities(passphrase: passphrase) } == .notSetUp)
    }

    @Test(
        "private keys in a wrong form are refused without repeating any of it",
        arguments: [
            "", "# L 2026-11-26T04:00:00Z\n", "KEY\n", "# L x!\nKEY\n", "# L 2026\nKEY KEY\n", "hello\n",
            "# recovery age1x\n# L 2026\nKEY\n", "# L 2026\nAGE-SECRET-KEY-1ABC\n",
        ])
    func badIdentities(_ text: String) throws {
        let secret = try AgeIdentity.generate().text.text
        let error = #expect(throws: VaultError.self) {
            _ = try VaultIdentities(parsing: SecretBytes(text: text.replacing("KEY", with: secret)))
        }
        #expect(error?.code == .damaged && error?.description.contains("AGE-") == false)
    }

    /// The reference implementation, where it is installed.
    private static let age = ["/usr/bin/age"].first { FileManager.default.isExecutableFile(atPath: $0) }

    @Test("age opens an item with the private keys as they are written", .enabled(if: age != nil, "NOT RUN: needs age"))
    func reference() throws {
        let made = try folder.setUp(passphrase: passphrase, recovery: [])
        let (keys, plain, sealed) = (place / "keys", place.file("plain", "hello"), place / "sealed.age")
        try made.text.text.write(toFile: keys, atomically: false, encoding: .utf8)
        for role in IdentityRole.allCases {
            let key = try #require(made.recipient(role)?.description)
            #expect(try run(["-r", key, "-o", sealed, plain]) == "")
            #expect(try run(["-d", "-i", keys, sealed]) == "hello")
        }
    }

    @Test(
        "age seals to the file of public keys, of an own machine and of a drop box",
        .enabled(if: age != nil, "NOT RUN: needs age"))
    func referenceRecipients() throws {
        let owner = try AgeIdentity.generate()
        let made = try folder.setUp(passphrase: passphrase, recovery: [owner.recipient])
        let (keys, plain, sealed) = (place / "keys", place.file("plain", "hello"), place / "sealed.age")
        #expect(try run(["-R", folder.recipientsPath, "-o", sealed, plain]) == "")
        for identity in made.entries.map(\.identity) + [owner] {
            try identity.text.text.write(toFile: keys, atomically: false, encoding: .utf8)
            #expect(try run(["-d", "-i", keys, sealed]) == "hello")
        }
        try folder.write(try ProtectionRecipients(own: nil, others: [owner.recipient]))
        #expect(try run(["-R", folder.recipientsPath, "-o", sealed, plain]) == "")
        #expect(try run(["-d", "-i", keys, sealed]) == "hello")
    }

    @Test("an earlier file, with each role behind its key, is still read")
    func earlierRecipients() throws {
        let owner = try AgeIdentity.generate().recipient
        let made = try folder.setUp(passphrase: passphrase, recovery: [owner])
        let keys = try IdentityRole.allCases.map { "\(try #require(made.recipient($0)))  \($0.rawValue)\n" }.joined()
        let text = "# The keys\nkept  passphrase\n\(keys)\(owner)  recovery\n"
        try text.write(toFile: folder.recipientsPath, atomically: false, encoding: .utf8)
        let recipients = try #require(try folder.recipients())
        #expect(recipients.own?.keeper == .passphrase && recipients.others == [owner])
        #expect(throws: Never.self) { try folder.check(made) }
        try "\(owner)  recipient\n".write(toFile: folder.recipientsPath, atomically: false, encoding: .utf8)
        #expect(try folder.recipients()?.isDropBox == true)
    }

    private func run(_ words: [String]) throws -> String {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: try #require(Self.age))
        (process.arguments, process.standardOutput) = (words, output)
        try process.run()
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return String(decoding: text, as: UTF8.self)
    }
}
