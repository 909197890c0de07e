import Secrets
import Testing

@testable import Desktop

@Suite("The encryption between Waft and the keyring")
struct SessionCipherTests {
    private static func cipher() throws -> (ours: SessionCipher, theirs: SessionCipher) {
        let (we, they) = (try KeyAgreement(), try KeyAgreement())
        let ours = try #require(they.publicKey.withUnsafeBytes { we.shared(with: $0) })
        let theirs = try #require(we.publicKey.withUnsafeBytes { they.shared(with: $0) })
        #expect(ours.revealed == theirs.revealed)
        return (try SessionCipher(shared: ours), try SessionCipher(shared: theirs))
    }

    @Test("gives the other side the same bytes", arguments: [0, 1, 15, 16, 17, 65_536])
    func bothSides(_ count: Int) throws {
        let (ours, theirs) = try Self.cipher()
        let secret = SecretBytes.random(count)
        let (parameters, value) = try ours.seal(secret)
        #expect(value.count > count && value.count <= count + 16)
        #expect(value.withBytes { theirs.open(parameters, $0) }?.revealed == secret.revealed)
    }

    @Test("refuses what is cut")
    func damaged() throws {
        let (ours, theirs) = try Self.cipher()
        let (parameters, value) = try ours.seal(SecretBytes.random(100))
        #expect(value[0..<111].withBytes { theirs.open(parameters, $0) } == nil)
        #expect(value[0..<0].withBytes { theirs.open(parameters, $0) } == nil)
        #expect(value.withBytes { theirs.open([], $0) } == nil)
    }

    @Test("refuses a key that would make the secret known")
    func weakKeys() throws {
        let agreement = try KeyAgreement()
        for key: [UInt8] in [[], [0], [1], [UInt8](repeating: 0xFF, count: 128), [UInt8](repeating: 1, count: 129)] {
            #expect(key.withUnsafeBytes { agreement.shared(with: $0) } == nil)
        }
    }
}
