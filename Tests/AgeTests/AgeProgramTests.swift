import Foundation
import Secrets
import TestSupport
import Testing

@testable import Age

/// Debian's `age`, an independent implementation.
@Suite("Together with the program age")
struct AgeProgramTests {
    private static let sizes = [0, 1, 65_535, 65_536, 65_537, 1_000_000]

    /// Runs a command of the shell in `folder`, and expects that it succeeds.
    private func run(_ command: String, in folder: TemporaryFolder) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", command]
        process.currentDirectoryURL = URL(filePath: folder.path)
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(command)")
    }

    private func write(_ bytes: [UInt8], _ path: String) throws { try Data(bytes).write(to: URL(filePath: path)) }

    private func read(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: path))) }

    @Test("age opens the files that a sealer wrote", arguments: sizes)
    func sealing(count: Int) throws {
        let folder = TemporaryFolder()
        let identity = try AgeIdentity.generate()
        try write(identity.text.revealed + [10], folder / "key")
        try write(try sealed(contents(count), to: [identity.recipient], pieces: [7, 100_000]), folder / "x.age")
        try run("age -d -i key x.age > x", in: folder)
        #expect(try read(folder / "x") == contents(count))
    }

    @Test("an opener opens the files that age wrote", arguments: sizes)
    func opening(count: Int) throws {
        let folder = TemporaryFolder()
        let one = try AgeIdentity.generate()
        let other = try AgeIdentity.generate()
        try write(contents(count), folder / "x")
        try run("age -r \(one.recipient) -r \(other.recipient) -o x.age x", in: folder)
        for identity in [one, other] {
            let (opened, fault) = try unsealed(try read(folder / "x.age"), with: [identity])
            #expect(fault == nil && opened == contents(count))
        }
    }

    @Test("an identity that age-keygen made is read, and has the recipient that it says")
    func keys() throws {
        let folder = TemporaryFolder()
        try run("age-keygen -o key && age-keygen -y key > recipient", in: folder)
        let identities = try AgeIdentity.list(in: SecretBytes(try read(folder / "key")))
        #expect(
            identities.map { "\($0.recipient)\n" } == [String(decoding: try read(folder / "recipient"), as: UTF8.self)])
    }

    @Test("age asks for the passphrase of a file of identities, and opens by them")
    func passphrases() throws {
        let folder = TemporaryFolder()
        let identity = try AgeIdentity.generate()
        let passphrase = "correct horse"
        let list = SecretBytes(try AgeIdentity.generate().text.revealed + [10] + identity.text.revealed + [10])
        // With the work factor of real use.
        let file = try AgePassphraseFile.seal(list, passphrase: SecretBytes(Array(passphrase.utf8)))
        try write(file, folder / "id.age")
        try write(try sealed(contents(1000), to: [identity.recipient]), folder / "x.age")
        // age reads a passphrase from a terminal only.
        try run("echo '\(passphrase)' | script -qec 'age -d -i id.age -o x x.age' /dev/null >/dev/null", in: folder)
        #expect(try read(folder / "x") == contents(1000))
    }
}
