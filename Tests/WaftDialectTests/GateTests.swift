import Digests
import HTTPChannel
import NIOCore
import NIOHTTP1
import Sharing
import TestSupport
import Testing

@testable import WaftDialect

/// The cost of an offer before it is judged (security rule 18).
@Suite("The gate before an offer is read", .timeLimit(.minutes(1)))
struct GateTests {
    private static let piece = ByteBuffer(repeating: UInt8(ascii: " "), count: 64 << 10)

    /// Sends a body without end until an answer arrives.
    private func endless(_ loopback: WaftLoopback) async throws -> HTTPAnswer {
        try await loopback.http { http in
            try await http.upload(
                WaftDialect.Resource.offers.path, headers: ["host": "waft", "content-type": "application/json"],
                timeout: .seconds(60)
            ) { Self.piece }
        }
    }

    @Test("a peer that may not offer is answered before the body has come, and no part of it is kept")
    func barred() async throws {
        let no = ItemVerdict(.declined, reason: "offers are accepted from contacts only; pair first: waft pair")
        try await WaftLoopback.run(access: .barred(no)) { loopback in
            let answer = try await endless(loopback)
            #expect(answer.status == .ok)
            // The verdict is valid for any offered digests.
            let offer = Offer(items: Offer.sample(items: 3).items, senderName: "a test", digests: [.sha256])
            let verdict = try WaftDialect.verdict(from: answer.body, on: offer)
            #expect(verdict.items == [no, no, no])
            // After a short offer the connection can be used again.
            try await loopback.client { client in
                for _ in 0..<3 {
                    let verdict = try await client.offer(offer, timeout: .seconds(60))
                    #expect(verdict.items == [no, no, no])
                }
            }
            #expect(loopback.events.count == 0)
            #expect(loopback.reception.bodies.bytesTaken == 0)
        }
    }

    @Test(
        "a stranger's offer for which there is no memory is busy at once, a contact's is taken, and both give it back")
    func noMemory() async throws {
        for (access, answer) in [(PeerAccess.stranger, ItemVerdict.Answer.busy), (.contact, .accepted)] {
            try await WaftLoopback.run(access: access) { loopback in
                let others = loopback.reception.bodies.claim(isContact: false)
                let isTaken = others.take(Limits.bodyBytesOfStrangers)
                #expect(isTaken)
                let first = try await loopback.offer(.sample())
                #expect(first.items.map(\.answer) == [answer])
                others.giveBack()
                let second = try await loopback.offer(.sample())
                #expect(second.acceptsAnything)
                #expect(loopback.reception.bodies.bytesTaken == 0)
            }
        }
    }

    @Test("each line of an offer is bounded, whatever the limit of the whole is")
    func frame() async throws {
        try await WaftLoopback.run { loopback in
            let answer = try await endless(loopback)
            #expect(answer.status == .badRequest)
            let offer = String(buffer: try WaftDialect.encode(Offer.sample()))
            for place in [offer.startIndex, offer.endIndex] {
                var text = offer
                text.insert(contentsOf: String(repeating: " ", count: Limits.messageBytes), at: place)
                #expect(throws: TransferError.self) { try WaftDialect.offer(from: ByteBuffer(string: text)) }
            }
            for pieceBytes in [1_000, 1 << 20] {
                let short = item(offer, Limits.messageBytes / 2)
                #expect(try WaftDialect.offer(from: short, pieceBytes: pieceBytes).items.count == 1)
                let long = item(offer, 3 * Limits.messageBytes)
                #expect(throws: TransferError.self) { try WaftDialect.offer(from: long, pieceBytes: pieceBytes) }
            }
        }
    }

    /// The offer with another field of `count` bytes in its item.
    private func item(_ offer: String, _ count: Int) -> ByteBuffer {
        let more = #""size":5,"x":"\#(String(repeating: "x", count: count))""#
        return ByteBuffer(string: offer.replacing(#""size":5"#, with: more))
    }

    @Test("an accepted offer is released when its connection has closed")
    func connectionClosed() async throws {
        try await WaftLoopback.run(departedWait: .zero) { loopback in
            let offer = Offer.sample()
            _ = try await loopback.offer(offer)
            try await loopback.served.first()
            #expect(loopback.reception.openTransfers == 0)
            let late = try await loopback.post(ByteBuffer(), to: offer.transfer)
            #expect(late.status == 403)
            let again = try await loopback.offer(offer)
            #expect(again.acceptsAnything)
        }
    }
}
