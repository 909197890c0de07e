import Foundation
import NIOCore
import Sharing
import TestSupport
import Testing
import UniformTypes

@testable import WaftDialect

@Suite("Previews in an offer")
struct OfferPreviewTests {
    private let transfer = String(repeating: "a", count: 32)

    private func text(_ previews: [String]) -> ByteBuffer {
        let items = previews.enumerated().map { number, preview in
            #"{"kind":"file","name":"\#(number)","preview":\#(preview),"type":"public.data","size":5}"#
        }
        return ByteBuffer(
            string: ([#"{"v":1,"transfer":"\#(transfer)","preview":"x"}"#] + items).joined(separator: "\n"))
    }

    private func preview(_ bytes: [UInt8], _ type: String = "image/png") -> String {
        #"{"type":"\#(type)","data":"\#(Data(bytes).base64EncodedString())"}"#
    }

    private func read(_ text: ByteBuffer, pieceBytes: Int = 100_000, keeps: Bool = true) throws -> Offer {
        var (reader, rest) = (OfferReader(keepsPreviews: keeps), text)
        while let piece = rest.readSlice(length: min(pieceBytes, rest.readableBytes)), piece.readableBytes > 0 {
            try reader.read(piece)
        }
        return try reader.finish(.system)
    }

    @Test("are read back as they were written, in whatever pieces they come")
    func roundTrip() throws {
        var written = Offer.sample(items: 3)
        written.items[0].preview = ItemPreview(PreviewSample.png(padding: 30_000))
        written.items[2].preview = ItemPreview(PreviewSample.jpeg())
        let text = try WaftDialect.encode(written)
        for pieceBytes in [1, 1_000, 1_000_000] {
            #expect(try read(text, pieceBytes: pieceBytes).items == written.items)
        }
    }

    @Test("never fail an offer: whatever is no preview is dropped", arguments: [7, 100_000])
    func hostile(pieceBytes: Int) throws {
        let png = PreviewSample.png()
        let previews = [
            preview(png),
            preview(PreviewSample.png(60_000, 60_000)), preview(Array(png.dropLast())), preview(png, "image/jpeg"),
            preview(PreviewSample.png(isAnimated: true)), preview(Array("<svg/>".utf8), "image/svg+xml"),
            preview([UInt8](repeating: 0, count: 768 << 10)), #"{"type":"image/png","data":"%%%"}"#,
            #"{"type":"image/png"}"#, #"{"type":7,"data":[]}"#, "17", "null", #""a }, { text""#,
            String(repeating: "[", count: 100) + String(repeating: "]", count: 100),
            #"{"data":"","data":"","type":"\"}"}"#,
            preview(PreviewSample.jpeg(), "image/jpeg"), preview(png),
        ]
        let offer = try read(text(previews), pieceBytes: pieceBytes)
        let names = previews.indices.map { "\($0)" }
        #expect(offer.items.map(\.name.text) == names)
        let kept = offer.items.indices.filter { offer.items[$0].preview != nil }
        #expect(kept == [0, 15])
    }

    @Test("of a peer whose previews are not wanted are dropped before they take memory")
    func unwanted() throws {
        var reader = OfferReader(keepsPreviews: false)
        let long = text([preview([UInt8](repeating: 0, count: 3 << 18))])
        let kept = try reader.read(long)
        #expect(kept < 200)
        let offer = try reader.finish(.system)
        #expect(offer.items.count == 1 && !offer.hasPreviews)
    }

    @Test("take no more than 48 KiB each while they are read")
    func bound() throws {
        var reader = OfferReader(keepsPreviews: true)
        let count = try reader.read(text(Array(repeating: preview([UInt8](repeating: 0, count: 30_000)), count: 40)))
        #expect(count < 16 * 48 << 10 + 10_000)
    }

    @Test("are found under an escaped name, and nothing else is taken for one")
    func names() throws {
        let png = preview(PreviewSample.png())
        let item = #"{"kind":"file","type":"public.data","size":5,"name":"preview""#
        let lines = [
            item + #","pr\u0065view":\#(png)}"#, item + #","x":{"preview":\#(png)},"y":"\"preview\":{"}"#,
            item + #" , "preview" : \#(png) , "z" : ["preview"] }"#,
        ]
        let text = ([#"{"v":1,"transfer":"\#(transfer)"}"#] + lines).joined(separator: "\n")
        let offer = try read(ByteBuffer(string: text))
        #expect(offer.items.map { $0.preview != nil } == [true, false, true])
    }

    @Test("are shown if the sender is a contact, and not if it is a stranger", arguments: [true, false])
    func gate(isContact: Bool) async throws {
        try await WaftLoopback.run(access: isContact ? .contact : .stranger) { loopback in
            var offer = Offer.sample()
            offer.items[0].preview = ItemPreview(PreviewSample.png())
            let verdict = try await loopback.offer(offer)
            #expect(verdict.acceptsAnything)
            #expect(loopback.consent.asked.all.map { $0.offer.hasPreviews } == [isContact])
        }
    }
}
