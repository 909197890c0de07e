import Secrets
import Testing

@testable import Age

/// The keys of the specification.
private enum Example {
    static let identity = "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX"
    static let recipient = "age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj"
}

@Suite("Recipients and identities")
struct KeyTests {
    private func read(_ text: String) throws(AgeError) -> AgeIdentity {
        try AgeIdentity(parsing: SecretBytes(Array(text.utf8)))
    }

    @Test("the keys of the specification belong together, and keep their text")
    func specification() throws {
        let identity = try read(Example.identity)
        #expect(identity.recipient.description == Example.recipient)
        #expect(String(decoding: identity.text.revealed, as: UTF8.self) == Example.identity)
        #expect(try AgeRecipient(parsing: Example.recipient) == identity.recipient)
    }

    @Test("a new identity is another one each time, and is read again from its text")
    func generation() throws {
        let one = try AgeIdentity.generate()
        #expect(try AgeIdentity(parsing: one.text).recipient == one.recipient)
        #expect(try AgeIdentity.generate().recipient != one.recipient)
        #expect(try AgeRecipient(parsing: one.recipient.description) == one.recipient)
        #expect(one.text.count == AgeIdentity.textBytes)
    }

    @Test("a key with any one character changed is refused")
    func changes() throws {
        for index in Example.recipient.utf8.indices {
            for character in ["q", "p", "1", "A", " ", "é", "\0"]
            where Example.recipient[index...].first != character.first {
                let text =
                    Example.recipient[..<index] + character
                    + Example.recipient[Example.recipient.index(after: index)...]
                #expect(throws: AgeError.self) { try AgeRecipient(parsing: text) }
            }
        }
        for index in Example.identity.utf8.indices {
            for character in ["Q", "P", "1", "a", "\n"] where Example.identity[index...].first != character.first {
                let text =
                    Example.identity[..<index] + character + Example.identity[Example.identity.index(after: index)...]
                #expect(throws: AgeError.self) { try read(String(text)) }
            }
        }
    }

    @Test(
        "text that is almost a recipient is refused",
        arguments: [
            "", "age1", "age", Example.recipient.uppercased(), " " + Example.recipient, Example.recipient + "\n",
            Example.recipient + "q",
            String(Example.recipient.dropLast()), "bge" + Example.recipient.dropFirst(3),
            String(repeating: "age1", count: 100_000),
        ])
    func almostRecipients(text: String) throws {
        #expect(fault { () throws(AgeError) in try AgeRecipient(parsing: text) } != nil)
    }

    @Test(
        "a recipient of another kind is refused by the name of its kind",
        arguments: [
            ("age1pq1x34nzsvr0rxjsgdn8zgyhfe8j7ceq5r9rdelkjuh3y235jzxshfg87pz", "hybrid"),
            ("age1yubikey1qwt50d05nh5vutpdzmlg5wn80xq5negm4uj9ghv0snvdd3yysf5yw3rhl3t", "plugin"),
            ("age1tag1qt8lw0ual6avlwmwatk888yqnmdamm7xfd0wak53ut6elz5c4swx2yqdj4e", "plugin"),
            ("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHsKLqeplhpW+uObz5dvMgjz1OxfM/XXUB+VHtZ6isGN", "SSH"),
            (Example.identity, "secret key"), (Example.identity.lowercased(), "secret key"),
        ])
    func otherKinds(text: String, kind: String) throws {
        let error = try #require(fault { () throws(AgeError) in try AgeRecipient(parsing: text) })
        #expect(error.isUnsupported)
        #expect(error.description.contains(kind))
        // A secret key that was given by mistake is not shown.
        #expect(!error.description.lowercased().contains("gfpyysjz"))
    }

    @Test("identities of other kinds are refused, and their text is not shown")
    func otherIdentities() throws {
        for text in ["AGE-SECRET-KEY-PQ-1XX76JRALN", "AGE-PLUGIN-YUBIKEY-1QQ", "-----BEGIN OPENSSH PRIVATE KEY-----"] {
            #expect(fault { () throws(AgeError) in try read(text) }?.isUnsupported == true)
        }
        for text in ["", Example.identity.lowercased(), Example.recipient, Example.identity + " "] {
            let error = try #require(fault { () throws(AgeError) in try read(text) })
            #expect(error.isMalformed && !error.description.lowercased().contains("gfpyysjz"))
        }
    }

    @Test("a point to which everybody has the key is no recipient")
    func lowOrder() throws {
        for point in [[UInt8](repeating: 0, count: 32), [1] + [UInt8](repeating: 0, count: 31)] {
            let text = AgeRecipient(point: point).description
            #expect(fault { () throws(AgeError) in try AgeRecipient(parsing: text) }?.isMalformed == true)
        }
    }

    @Test("a file of identities has one a line, with comments and empty lines")
    func lists() throws {
        let one = try AgeIdentity.generate()
        let other = try AgeIdentity.generate()
        func text(_ identity: AgeIdentity) -> String { String(decoding: identity.text.revealed, as: UTF8.self) }
        func list(_ text: String, maximum: Int = 64) throws(AgeError) -> [AgeRecipient] {
            try AgeIdentity.list(in: SecretBytes(Array(text.utf8)), maximum: maximum).map(\.recipient)
        }
        let file = "# created: today\r\n\(text(one))\r\n\n#\n\(text(other))"
        #expect(try list(file) == [one.recipient, other.recipient])
        #expect(fault { () throws(AgeError) in try list(file, maximum: 1) }?.isUnsupported == true)
        #expect(fault { () throws(AgeError) in try list("# nothing\n") }?.isMalformed == true)
        #expect(fault { () throws(AgeError) in try list(text(one) + "\n garbage") }?.isMalformed == true)
    }
}
