import TestSupport
import Testing

@testable import Sharing

@Suite("Whether a machine passes contents on")
struct RelayRuleTests {
    @Test("is for every accepted sender, for contacts or for nobody, by the rule")
    func rule() {
        var offer = Offer.sample()
        #expect(!offer.mayBeRelayed(by: .accepted, contact: true))
        offer.group = OfferedGroup(id: GroupID(), members: 3)
        #expect(RelayRule.allCases.map { offer.mayBeRelayed(by: $0, contact: true) } == [false, true, true])
        #expect(RelayRule.allCases.map { offer.mayBeRelayed(by: $0, contact: false) } == [false, false, true])
    }

    @Test("is never where the offer came by a wireless interface")
    func radio() {
        var offer = Offer.sample()
        offer.group = OfferedGroup(id: GroupID(), members: 3)
        offer.origin.isWireless = true
        #expect(!offer.mayBeRelayed(by: .accepted, contact: true))
    }
}
