import Secrets
import Testing

@testable import Pairing

@Suite("The group P-256")
struct P256Tests {
    @Test("a scalar is reduced by the order of the group")
    func reducing() throws {
        let order = hex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
        var one = order
        one[31] += 1
        let reduced = try P256().scalar(reducing: SecretBytes(one))
        #expect(reduced.revealed == [UInt8](repeating: 0, count: 31) + [1])
        #expect(throws: PairingError.self) { try P256().scalar(reducing: SecretBytes(order)) }
    }
}
