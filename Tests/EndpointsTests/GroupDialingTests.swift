import Groups
import HTTPChannel
import NIOCore
import NIOHTTP1
import Sharing
import TestSupport
import Testing
import WaftDialect

@testable import Endpoints

@Suite("Dialling a member of a group", .timeLimit(.minutes(1)))
struct GroupDialingTests {
    private func next(_ receiver: ScriptedReceiver, peer: PeerID) -> Place.Next {
        Place.Next(
            link: 1, peer: peer, token: Token(high: 1, low: 2), addresses: [.v4(0x7F00_0001)],
            port: UInt16(receiver.port))
    }

    @Test("only the key of the place gets the token, and a refusal is no link")
    func key() async throws {
        try await ScriptedReceiver.run { _, _, exchange in
            try await exchange.respondAndClose(.forbidden, text: "no")
        } _: { receiver in
            let dialing = receiver.endpoint.linkDialing(scope: nil)
            #expect(await dialing(next(receiver, peer: .sample(1)), GroupID()) == nil)
            #expect(receiver.asked.count == 0)
            guard
                case .other(let key?) = await receiver.endpoint.probe(
                    receiver.target.expecting(.sample(1)), within: .seconds(60))
            else {
                Issue.record("no key was shown")
                return
            }
            #expect(await dialing(next(receiver, peer: key), GroupID()) == nil)
            #expect(receiver.asked.all == ["relay"])
        }
    }

    @Test("a member dials neither loopback nor itself, also when the sender came from there")
    func reach() async throws {
        try await ScriptedReceiver.run { _, _, _ in
        } _: { receiver in
            let address = try SocketAddress(ipAddress: "127.0.0.1", port: 1)
            let rule = receiver.endpoint.reach(from: address).rule
            #expect(rule.own.contains(.v4(0x7F00_0001)))
            #expect(rule.subnets.contains(Subnet(.v4(0x7F00_0001), prefixLength: 8)))
            let permitted = Result { () throws(Groups.DialError) in
                try rule.permitted([.v4(0x7F00_0002)], port: 9_238)
            }
            #expect(permitted == .failure(.loopback))
            #expect(receiver.endpoint.reach(from: nil).rule.subnets.isEmpty)
        }
    }

    @Test(
        "addresses of places have the form that the system reads",
        arguments: [
            (NetworkAddress.v4(0xC000_0207), "192.0.2.7", false),
            (.v6(0x2001_0DB8_0000_0000, 7), "2001:db8:0:0:0:0:0:7", false),
            (.v6(0xFE80_0000_0000_0000, 1), "fe80:0:0:0:0:0:0:1", true),
        ])
    func text(address: NetworkAddress, text: String, isLinkLocal: Bool) {
        #expect(address.text == text && address.isLinkLocal == isLinkLocal)
    }
}
