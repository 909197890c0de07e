import Control
import Sending
import Testing

@testable import Pairing

@Suite("The end of a pairing")
struct PairingEndTests {
    @Test("a message that is malformed or out of order is a refusal, on either side")
    func malformed() {
        for fault in [PairingError.malformed("a share"), .outOfOrder("a share"), .refused(.protocol)] {
            #expect(PairingEndError(fault).code == .declined)
        }
    }
}
