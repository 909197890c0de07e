import Secrets
import Testing

@testable import Age

@Suite("Files that a passphrase opens")
struct PassphraseTests {
    private let passphrase = SecretBytes(Array("correct horse battery staple".utf8))

    private func open(_ file: [UInt8], _ passphrase: SecretBytes? = nil, maximum: Int = 20) -> AgeError? {
        fault { () throws(AgeError) in
            try AgePassphraseFile.open(file, passphrase: passphrase ?? self.passphrase, maximumWorkFactor: maximum)
        }
    }

    @Test("a text of every size comes back", arguments: [0, 1, 149, 65_536])
    func sizes(count: Int) throws {
        let text = SecretBytes(contents(count))
        let file = try AgePassphraseFile.seal(text, passphrase: passphrase, workFactor: 4)
        #expect(file.count <= AgePassphraseFile.maximumFileBytes)
        #expect(try AgePassphraseFile.open(file, passphrase: passphrase).revealed == text.revealed)
        #expect(open(file, SecretBytes([1])) == .noMatch)
        #expect(open(file, SecretBytes([])) == .noMatch)
        #expect(try AgeHeader(parsing: file).isForPassphrase)
        // No identity opens it.
        #expect(try unsealed(file, with: [try AgeIdentity.generate()]).fault == .noMatch)
    }

    @Test("too long a text, an empty passphrase and an impossible work factor are refused")
    func bounds() throws {
        let text = SecretBytes([1])
        #expect(throws: AgeError.self) { try AgePassphraseFile.seal(text, passphrase: SecretBytes([]), workFactor: 4) }
        #expect(throws: AgeError.self) {
            try AgePassphraseFile.seal(SecretBytes(contents(65_537)), passphrase: passphrase, workFactor: 4)
        }
        for factor in [0, -1, 31, Int.max] {
            #expect(throws: AgeError.self) {
                try AgePassphraseFile.seal(text, passphrase: passphrase, workFactor: factor)
            }
        }
    }

    @Test("a work factor above the maximum is refused before anything is calculated")
    func workFactors() throws {
        let file = try AgePassphraseFile.seal(SecretBytes([7]), passphrase: passphrase, workFactor: 5)
        #expect(open(file, maximum: 5) == nil)
        #expect(open(file, maximum: 4)?.isUnsupported == true)
        let text = String(decoding: file, as: UTF8.self)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("-> scrypt") })
        for factor in ["21", "64", "99999999999999999999999999"] {
            let changed = Array((line.dropLast(1) + factor + "\n").utf8)
            let start = Array(AgeHeader.versionLine)
            #expect(open(start + changed + file[(start.count + line.utf8.count + 1)...])?.isUnsupported == true)
        }
    }

    @Test("a changed, cut or lengthened file is refused")
    func damage() throws {
        let file = try AgePassphraseFile.seal(SecretBytes(contents(100)), passphrase: passphrase, workFactor: 1)
        for index in file.indices {
            var flipped = file
            flipped[index] ^= 1
            #expect(open(flipped, maximum: 3) != nil)
            #expect(open(Array(file[..<index])) != nil)
        }
        #expect(open(file + [0]) == .damaged)
        #expect(open(file + contents(70_000)) != nil)
        #expect(open(file + contents(200_000))?.isUnsupported == true)
        let identity = try AgeIdentity.generate()
        #expect(open(try sealed([1], to: [identity.recipient])) == .noMatch)
    }
}
