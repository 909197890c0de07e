import Digests
import NIOCore
import Sharing
import TestSupport
import Testing
import UniformTypes

@testable import WaftDialect

/// Messages that are followed by items, one a line.
@Suite("A message of many lines")
struct ItemListTests {
    private let transfer = String(repeating: "a", count: 32)

    private func item(_ name: String, more: String = "") -> String {
        #"{"kind":"file","name":"\#(name)","type":"public.data","size":5\#(more)}"#
    }

    private func text(_ lines: [String]) -> String {
        ([#"{"v":1,"transfer":"\#(transfer)"}"#] + lines).joined(separator: "\n")
    }

    private func offer(_ text: String, pieceBytes: Int = 100_000) throws(TransferError) -> Offer {
        try WaftDialect.offer(from: ByteBuffer(string: text), pieceBytes: pieceBytes)
    }

    @Test("reads back as it was written, in order, in whatever pieces it comes")
    func roundTrip() throws {
        let written = Offer(
            items: (0..<5_000).map { number in
                let name = ["[\(number)", "\\n{\(number)", "\\\"\(number)", "🍳,\(number)"][number % 4]
                let type = ["public.jpeg", "public.data", "org.example.\(number)"][number % 3]
                return OfferedItem(kind: .file, name: safe(name), type: uniform(type), size: UInt64(number))
            }, annotation: ["note": "a\nb\r\n{}"], senderName: "study", digests: [.xxh3_128])
        let text = try WaftDialect.encode(written)
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

    @Test("may end without a line feed, and each line may have spaces and a carriage return around it")
    func endings() throws {
        for text in [
            text([item("a"), item("b")]), text([item("a"), item("b"), ""]),
            text([" " + item("a") + " \r", item("b") + "\r"]) + "\n",
        ] {
            #expect(try offer(text).items.map(\.name.text) == ["a", "b"])
        }
    }

    @Test("is refused if a line is not one whole document", arguments: [1, 100_000])
    func refused(pieceBytes: Int) {
        let good = item("b")
        for lines in [
            [good, "", good], [good, good, "", ""], [good + good], [good + ","], ["[\(good)]"],
            [String(good.dropLast())],
            [good, "nul"], [good, item("..")], [good, "\u{FEFF}" + good], [good, #"{"v":1}"#],
            [String(good.prefix(20)), String(good.dropFirst(20))],
        ] {
            #expect(throws: TransferError.self, "\(lines)") { try offer(text(lines), pieceBytes: pieceBytes) }
        }
        #expect(throws: TransferError.self) { try offer("\n" + text([good])) }
        #expect(throws: TransferError.self) { try offer(good + "\n" + text([good])) }
    }

    @Test("is refused as soon as a line is longer than 64 KiB, before that line ends", arguments: [1_000, 1 << 20])
    func longLine(pieceBytes: Int) throws {
        let short = item("a", more: #","x":"\#(String(repeating: "x", count: 60_000))""#)
        #expect(try offer(text([short, short]), pieceBytes: pieceBytes).items.count == 2)
        let endless = text([short]) + "\n" + String(repeating: " ", count: Limits.messageBytes + 1)
        var reader = OfferReader()
        let fault = #expect(throws: TransferError.self) { try reader.read(ByteBuffer(string: endless)) }
        #expect(fault?.code == .protocolViolation)
    }

    @Test("a receipt of more items than were offered is refused at the first of them")
    func tooMany() {
        let offer = Offer.sample()
        let lines = Array(repeating: #"{"state":"notSent"}"#, count: 200_000)
        let text = ([#"{"v":1,"transfer":"\#(offer.transfer.text)"}"#] + lines).joined(separator: "\n")
        let fault = #expect(throws: TransferError.self) {
            try WaftDialect.receipt(from: ByteBuffer(string: text), for: offer)
        }
        #expect(fault?.message.contains("more than was offered") == true)
    }
}
