import Sharing
import TestSupport
import Testing

@testable import Sending

@Suite("A machine that is not found")
struct NotFoundTests {
    @Test("may be a peer that does not tell its name: the advice is for both sides")
    func nameless() {
        let id = PeerID.sample(1)
        #expect(
            PeerFinder.advice(nameless: [id], named: ["nas"]) == [
                "in view: nas",
                "1 machine here does not tell its name (\(id.short)): if that is it, run there: waft visible everyone --for 10m",
                "or pair: waft pair --accept there, waft pair \(id.short.prefix(4)) here",
            ])
        #expect(
            PeerFinder.advice(nameless: [id, .sample(2)], named: [])[0].hasPrefix(
                "2 machines here do not tell their names"))
    }

    @Test("is reported with the machines in view, and another way to reach the peer, each on a line of its own")
    func others() {
        let rest = [
            "is waftd or waft receive running there? An address also works, but not that of an AirDrop device: --to ADDRESS",
            "on a phone, open LocalSend and look for machines there. In another network: --to ADDRESS:53317, or once: "
                + "waft peers add NAME ADDRESS:53317",
        ]
        #expect(PeerFinder.advice(nameless: [], named: []) == ["no machine is in view"] + rest)
        #expect(PeerFinder.advice(nameless: [], named: ["nas", "study"]) == ["in view: nas, study"] + rest)
        let many = (1...9).map { "m\($0)" }
        #expect(PeerFinder.advice(nameless: [], named: many) == ["in view: m1, m2, m3, m4, m5 and 4 more"] + rest)
    }
}
