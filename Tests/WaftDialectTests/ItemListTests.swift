import Digests
import Foundation
import NIOCore
import Sharing
import TestSupport
import Testing
import UniformTypes

@testable import WaftDialect

/// Lists of items so long that they are parsed in parts.
@Suite("A message of many items")
struct ItemListTests {
    private let transfer = String(repeating: "a", count: 32)

    /// More bytes than a part has, in which anything may stand.
    private func filler(_ text: String = "x") -> String {
        String(repeating: text, count: 80_000 / text.utf8.count)
    }

    private func item(_ name: String, more: String = "") -> String {
        #"{"kind":"file","name":"\#(name)","type":"public.data","size":5\#(more)}"#
    }

    private func text(_ items: [String]) -> String {
        #"{"v":1,"items":[\#(items.joined(separator: ","))],"transfer":"\#(transfer)"}"#
    }

    private func offer(_ text: String) throws(TransferFault) -> Offer {
        try WaftDialect.offer(from: ByteBuffer(string: text))
    }

    private func parts(_ text: String) throws -> Int {
        var reader = ItemListReader<OfferMessage>()
        _ = try reader.read(ByteBuffer(string: text))
        return reader.parts
    }

    @Test("is parsed in parts, and reads back as it was written, in order")
    func roundTrip() throws {
        let written = Offer(
            items: (0..<5_000).map { number in
                let name = ["[\(number)", "]},{\"items\":[\(number)", "\\\"\(number)", "🍳,\(number)"][number % 4]
                let type = ["public.jpeg", "public.data", "org.example.\(number)"][number % 3]
                return OfferedItem(kind: .file, name: safe(name), type: uniform(type), size: UInt64(number))
            }, annotation: ["items": "[", "note": "\"items\":[]"], senderName: "study", digests: [.xxh3_128])
        let text = try WaftDialect.encode(written)
        #expect(try parts(String(buffer: text)) > 5)
        for pieceBytes in [1, 1_000, 1_000_000] {
            let read = try WaftDialect.offer(from: text, pieceBytes: pieceBytes)
            #expect(read.items == written.items)
            #expect(read.annotation == written.annotation)
        }

        var items = (0..<5_000).map { number in
            ItemReceipt(
                .stored(name: "\(number)", size: 1, digest: Digest.of(.xxh3_128, Array("\(number)".utf8))),
                handler: HandlerAnswer([.none, .pending, .yes][number % 3]), isAlready: number % 2 == 0)
        }
        items[17] = ItemReceipt(.notSent)
        let receipt = Receipt(transfer: written.transfer, items: items)
        #expect(try WaftDialect.receipt(from: WaftDialect.encode(receipt), for: written) == receipt)
        var writer = try WaftDialect.writer(receipt)
        var pieces: [Int] = []
        while let piece = try writer.nextPiece() { pieces.append(piece.readableBytes) }
        #expect(pieces.count > 5)
        #expect(try #require(pieces.max()) < 70_000)
    }

    @Test("wherever the list stands, and whatever stands around and between")
    func places() throws {
        let long = item("a", more: #","x":"\#(filler())""#)
        for text in [
            text([long, item("b"), long, item("c")]),
            #" { "items" : [ \#(long) , \#(item("b")) ,\#n \#(long) , \#(item("c")) ] , "transfer":"\#(transfer)","v":1 }"#,
            #"{"x":{"items":[1]},"y":"items","z":["items",["items"]],"transfer":"\#(transfer)","v":1,"items":["#
                + [long, item("b"), long, item("c")].joined(separator: ",") + "]}",
        ] {
            #expect(try parts(text) == 3)
            #expect(try offer(text).items.map(\.name.text) == ["a", "b", "a", "c"])
        }
    }

    @Test("brackets, commas and quotes in strings end nothing")
    func strings() throws {
        let more = #","x":"\#(filler(#"\\\"],{[}:items\\"#))""#
        let text = text([item("a", more: more), item("b"), item("c", more: more)])
        #expect(try parts(text) == 2)
        #expect(try offer(text).items.map(\.name.text) == ["a", "b", "c"])
    }

    @Test("is refused for what would be refused in one piece")
    func refused() {
        let long = item("a", more: #","x":"\#(filler())""#)
        for items in [
            "\(long),", "\(long), ", ",\(long)", "\(long),,\(item("b"))", "\(long) \(item("b"))", "\(long),1",
            "\(long),\(item("b"))}", "\(long),{\(item("b"))", "\(long),[\(item("b"))]", "\(long),\"", "\(long)],[",
            "\(long),nul", "\(long),\(item(".."))",
        ] {
            #expect(throws: TransferFault.self, "\(items.suffix(60))") { try offer(text([items])) }
        }
        // A bracket of the other kind, an end that never comes, and two lists.
        let good = text([long, item("b")])
        #expect(throws: TransferFault.self) { try offer(good.replacing("],\"transfer", with: "},\"transfer")) }
        #expect(throws: TransferFault.self) { try offer(String(good.prefix(70_000))) }
        #expect(throws: TransferFault.self) { try offer(String(good.dropLast())) }
        #expect(throws: TransferFault.self) {
            try offer(#"{"v":1,"items":[],"transfer":"\#(transfer)","items":[\#(item("a"))]}"#)
        }
    }

    @Test("a receipt of more items than were offered is refused at the first of them")
    func tooMany() {
        let offer = Offer.sample()
        let items = Array(repeating: #"{"state":"notSent"}"#, count: 200_000).joined(separator: ",")
        let text = #"{"v":1,"transfer":"\#(offer.transfer.text)","items":[\#(items)]}"#
        let fault = #expect(throws: TransferFault.self) {
            try WaftDialect.receipt(from: ByteBuffer(string: text), for: offer)
        }
        #expect(fault?.message.contains("more than was offered") == true)
    }

    @Test("any text gives the same in parts as in one piece, or is refused", arguments: 0..<20 as Range<UInt64>)
    func sameAsWhole(seed: UInt64) throws {
        var dice = SeededNumbers(seed: seed)
        let long = item("long", more: #","x":"\#(filler())""#)
        let pieces = ["{", "}", "[", "]", ":", ",", "\"", "\\", " ", "\"items\"", "\"items\":[", "null", "1"]
        for _ in 0..<5 {
            var bytes = Array(text([item("a"), long, item("b"), long, item("c")]).utf8)
            for _ in 0..<Int.random(in: 0...2, using: &dice) {
                // Near the beginning, the end, or a seam.
                let seams = [0, 100, 80_200, 80_300, 160_400, 160_500, bytes.count - 60]
                let around = (seams.randomElement(using: &dice) ?? 0) + Int.random(in: -40...60, using: &dice)
                let place = min(max(0, around), bytes.count)
                let end = min(bytes.count, place + Int.random(in: 0...2, using: &dice))
                let piece = Array((pieces.randomElement(using: &dice) ?? "").utf8)
                bytes.replaceSubrange(place..<end, with: piece)
            }
            let body = ByteBuffer(bytes: bytes)
            let pieceBytes = [1, 13, 70_000, 1_000_000].randomElement(using: &dice) ?? 1
            guard let inParts = try? WaftDialect.offer(from: body, pieceBytes: pieceBytes) else { continue }
            let whole = try WaftDialect.decode(OfferMessage.self, from: body)
            var types: [String: UniformType] = [:]
            #expect(try inParts.items == whole.items.map { try $0.offered(&types) })
        }
    }
}
