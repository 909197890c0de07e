import Secrets
import Testing

@testable import Age

@Suite("The published test files of age")
struct VectorTests {
    @Test("all of them are there")
    func number() {
        #expect(Vector.all.count == 86)
    }

    /// Opens a vector by its identities or its passphrase.
    private func open(_ vector: Vector) throws -> (result: String, contents: [UInt8]) {
        let identities = try vector.values("identity").map { text throws(AgeError) in
            try AgeIdentity(parsing: SecretBytes(Array(text.utf8)))
        }
        let passphrase = vector.values("passphrase").first.map { SecretBytes(Array($0.utf8)) }
        var contents: [UInt8] = []
        var isOpen = false
        do {
            var opener = try AgeOpener(read: reader(vector.file)) { (header) throws(AgeError) in
                if let passphrase { return try header.fileKey(passphrase: passphrase, maximumWorkFactor: 20) }
                return try header.fileKey(with: identities)
            }
            isOpen = true
            while try opener.next({ contents += $0 }) {}
            return ("success", contents)
        } catch AgeError.noMatch {
            return ("no match", contents)
        } catch AgeError.damaged where !isOpen {
            return ("HMAC failure", contents)
        } catch is AgeError {
            return (isOpen ? "payload failure" : "header failure", contents)
        }
    }

    @Test("each opens, or is refused, as it says", arguments: Vector.all)
    func vectors(_ vector: Vector) throws {
        let (result, contents) = try open(vector)
        #expect(result == vector.expected)
        if let digest = vector.values("payload").first {
            #expect(Hexadecimal.text(try KeyDerivation.sha256(SecretBytes(contents)).revealed) == digest)
        } else {
            #expect(contents.isEmpty)
        }
    }

    @Test("the file key of each that opens is the one that it names", arguments: Vector.all)
    func fileKeys(_ vector: Vector) throws {
        guard vector.expected == "success", vector.values("passphrase").isEmpty else { return }
        let identity = try AgeIdentity(parsing: SecretBytes(Array(try #require(vector.values("identity").first).utf8)))
        let header = try AgeHeader(parsing: vector.file)
        #expect(Hexadecimal.text(try header.fileKey(with: [identity]).revealed) == vector.values("file key").first)
    }

    @Test("a header that is written again equals the one that was read", arguments: Vector.all)
    func headers(_ vector: Vector) throws {
        guard vector.expected != "header failure" else { return }
        let header = try AgeHeader(parsing: vector.file)
        let again = AgeHeader.versionLine + header.stanzas.flatMap(\.encoded) + AgeHeader.codeMark
        #expect(again == header.authenticated)
        #expect(header.length == again.count + 1 + 43 + 1)
    }

    @Test("the layout gives the number of contents of each that opens", arguments: Vector.all)
    func layout(_ vector: Vector) throws {
        guard vector.expected == "success" else { return }
        let header = try AgeHeader(parsing: vector.file)
        let count = AgeLayout.contentBytes(ofFile: vector.file.count, headerBytes: header.payloadOffset)
        #expect(count == (try open(vector)).contents.count)
    }
}
