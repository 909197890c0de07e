import Sharing
import TestSupport
import Testing

@testable import Sending

@Suite("A machine that is not found")
struct NotFoundTests {
    @Test("may be a peer that does not tell its name: the message has advice for both sides")
    func nameless() {
        let id = PeerID.sample(1)
        let one = PeerFinder.advice(nameless: [id], named: ["nas"])
        #expect(one.hasPrefix("; 1 machine here does not tell its name (\(id.short)): if that is it, run there: "))
        #expect(one.contains("waft visible everyone --for 10m"))
        #expect(one.hasSuffix("waft pair --accept there, waft pair \(id.short.prefix(4)) here"))
        #expect(
            PeerFinder.advice(nameless: [id, .sample(2)], named: []).hasPrefix(
                "; 2 machines here do not tell their names"))
    }

    @Test("is reported with the machines in view, and another way to reach the peer")
    func others() {
        let end =
            "; is waftd or waft receive running there? An address also works: --to ADDRESS. "
            + "On a phone, open LocalSend and look for machines there"
        #expect(PeerFinder.advice(nameless: [], named: []) == "; no machine is in view" + end)
        #expect(PeerFinder.advice(nameless: [], named: ["study", "nas"]) == "; in view: nas, study" + end)
        let many = Set((1...9).map { "m\($0)" })
        #expect(PeerFinder.advice(nameless: [], named: many) == "; in view: m1, m2, m3, m4, m5 and 4 more" + end)
    }
}
