import SecureTransport
import Sharing
import TestSupport
import Testing

@testable import Endpoints

@Suite("Peers without a key that are seen again")
struct LaterSightingTests {
    private let old = DialAddress(host: "192.0.2.1", port: 8_770)
    private let other = DialAddress(host: "192.0.2.2", port: 8_770)

    private func target(_ addresses: [DialAddress], _ name: String?, instance: String) -> PeerTarget {
        var target = PeerTarget(
            .keyless, addresses: addresses, announcement: .init(instance: instance, facts: [:]))
        target.name = name
        return target
    }

    @Test("a receiver that was started again is the same one: its name and addresses are, and its id is not")
    func restarted() {
        let before = target([old, other], "Mac", instance: "a")
        #expect(target([old, other], "Mac", instance: "b").isLaterSighting(of: before))
        #expect(target([other], "Mac", instance: "b").isLaterSighting(of: before))
    }

    @Test("a receiver of the same name that has another address, beside that of the first or not, is another one")
    func others() {
        let before = target([old], "Mac", instance: "a")
        #expect(!target([other, old], "Mac", instance: "b").isLaterSighting(of: before))
        #expect(!target([other], "Mac", instance: "b").isLaterSighting(of: before))
        let port = DialAddress(host: old.host, port: 8_771)
        #expect(!target([port], "Mac", instance: "b").isLaterSighting(of: before))
        #expect(!target([], "Mac", instance: "b").isLaterSighting(of: before))
    }

    @Test("receivers whose names differ or are unknown, and peers by another protocol, are different ones")
    func names() {
        let before = target([old], "Mac", instance: "a")
        #expect(!target([old], "Other", instance: "b").isLaterSighting(of: before))
        #expect(!target([old], nil, instance: "b").isLaterSighting(of: target([old], nil, instance: "a")))
        #expect(!PeerTarget(.keyed, addresses: [old]).isLaterSighting(of: before))
    }
}
