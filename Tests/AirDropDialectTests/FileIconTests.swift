import NIOCore
import PropertyLists
import Sharing
import TestSupport
import Testing
import UniformTypes

@testable import AirDropDialect

@Suite("The picture of a question")
struct FileIconTests {
    private func reading(_ icon: PropertyList, keeps: Bool = true) throws -> AskReading {
        var message = try #require(PropertyList(message: HandMadeAsk.files("a", "b"))?.dictionary)
        message["FileIcon"] = icon
        return try AskReading(PropertyList.dictionary(message).encoded(), keepsIcon: keeps)
    }

    @Test("is the preview of the first item, if it is a JPEG or PNG within the bounds")
    func kept() throws {
        for bytes in [PreviewSample.jpeg(), PreviewSample.png()] {
            let asked = try AskedOffer(reading(.data(bytes)), registry: .system)
            #expect(asked.offer.items[0].preview == ItemPreview(bytes))
            #expect(asked.offer.items[1].preview == nil)
        }
    }

    @Test("is dropped in silence if it is the JPEG 2000 of a Mac, anything else, or not wanted")
    func dropped() throws {
        let mac: [UInt8] =
            [0, 0, 0, 12, 0x6A, 0x50, 0x20, 0x20, 0x0D, 0x0A, 0x87, 0x0A] + Array(repeating: 0, count: 64)
        let long = PreviewSample.jpeg() + Array(repeating: 0, count: 1 << 20)
        for icon in [
            PropertyList.data(mac), .data(long), .data(PreviewSample.jpeg(60_000, 60_000)), .data([]), .string("x"),
            .array([]),
        ] {
            #expect(try reading(icon).icon == nil)
        }
        #expect(try reading(.data(PreviewSample.jpeg()), keeps: false).icon == nil)
    }

    @Test("is sent as a JPEG only")
    func sent() throws {
        let source = MemorySource.file("a", Array("x".utf8))
        let plan = try SendingPlan(Offer(of: [source]), [source], to: AirDropFlags.own)
        func icon(_ preview: ItemPreview?) -> [UInt8]? {
            AirDropMessage.question(
                plan, icon: preview, from: AirDropCard(name: "a", model: "b"), instance: "0a0a0a0a0a0a"
            ).dictionary?["FileIcon"]?.data
        }
        #expect(icon(ItemPreview(PreviewSample.jpeg())) == PreviewSample.jpeg())
        #expect(icon(ItemPreview(PreviewSample.png())) == nil)
        #expect(icon(nil) == nil)
    }
}
