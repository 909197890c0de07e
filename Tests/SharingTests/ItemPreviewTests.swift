import ContentCheck
import Sharing
import TestSupport
import Testing

@Suite("The preview of an item")
struct ItemPreviewTests {
    @Test("is a PNG or JPEG image of at most 512 times 512 pixels, with its type and pixels by its header")
    func images() throws {
        let png = try #require(ItemPreview(PreviewSample.png(512, 512), saying: "image/png"))
        #expect(png.type == "image/png")
        #expect([png.pixels.width, png.pixels.height] == [512, 512])
        let jpeg = try #require(ItemPreview(PreviewSample.jpeg(512, 7)))
        #expect(jpeg.type == "image/jpeg")
        #expect([jpeg.pixels.width, jpeg.pixels.height] == [512, 7])
        #expect(jpeg.bytes == PreviewSample.jpeg(512, 7))
    }

    @Test("is none if it claims too many pixels, is animated, cut off, of another type or too long")
    func hostile() {
        let svg = Array("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1\" height=\"1\"/>".utf8)
        let jpeg2000: [UInt8] = [0, 0, 0, 12, 0x6A, 0x50, 0x20, 0x20, 0x0D, 0x0A, 0x87, 0x0A]
        let room = Limits.previewBytes - PreviewSample.png().count - 12
        #expect(ItemPreview(PreviewSample.png(padding: room)) != nil)
        for bytes in [
            PreviewSample.png(60_000, 60_000), PreviewSample.png(513, 1), PreviewSample.jpeg(1, 513),
            PreviewSample.png(0, 1), PreviewSample.png(isAnimated: true), PreviewSample.png(padding: room + 1),
            Array(PreviewSample.png().dropLast()), PreviewSample.png() + [0], Array(PreviewSample.png().prefix(33)),
            Array(PreviewSample.jpeg().dropLast()), Array(PreviewSample.jpeg().prefix(12)), svg, jpeg2000,
            Array("GIF89a".utf8), [],
        ] as [[UInt8]] {
            #expect(ItemPreview(bytes) == nil, "\(bytes.prefix(40))")
        }
        #expect(ItemPreview(PreviewSample.png(), saying: "image/jpeg") == nil)
        #expect(ItemPreview(PreviewSample.jpeg(), saying: "image/svg+xml") == nil)
    }

    @Test("of the 17th item is dropped, and so is one beyond 512 KiB in all")
    func bounds() {
        let large = ItemPreview(PreviewSample.png(padding: Limits.previewBytes - 100))
        var offer = Offer.sample(items: 20)
        for number in offer.items.indices { offer.items[number].preview = ItemPreview(PreviewSample.png()) }
        let kept = offer.bounded().items.indices.filter { offer.bounded().items[$0].preview != nil }
        #expect(kept == Array(0..<16))
        for number in offer.items.indices { offer.items[number].preview = large }
        let bounded = offer.bounded()
        #expect(bounded.items.reduce(0) { $0 + ($1.preview?.bytes.count ?? 0) } <= Limits.previewsBytes)
        #expect(bounded.items.count == 20)
        #expect(!offer.bare().hasPreviews)
    }

    @Test("takes one pointer in an item")
    func memory() {
        #expect(MemoryLayout<ItemPreview?>.size == MemoryLayout<Int>.size)
    }

    @Test("is for contacts, for everyone or for nobody, by the rule")
    func rule() {
        #expect(PreviewRule.allCases.map { $0.includes(contact: true) } == [true, true, false])
        #expect(PreviewRule.allCases.map { $0.includes(contact: false) } == [false, true, false])
    }

    @Test("reaches the person who is asked, and neither the events nor the contents")
    func life() async throws {
        let (consent, events) = (ScriptedConsent(.accept), Recorder<Reception.Event>())
        let reception = Reception(
            inbox: MemoryInbox(), journal: MemoryJournal(), gate: ScriptedGate { _ in .contact }, consent: consent,
            delivery: RecordingDelivery(.none), observe: { events.record($0) })
        var offer = Offer.sample(items: 2)
        offer.items[1].preview = ItemPreview(PreviewSample.png())
        let peer = PeerID.sample(1)
        let verdict = await reception.judge(offer, from: Visitor(peer))
        #expect(verdict.acceptsAnything)
        #expect(consent.asked.all.first?.offer.items[1].preview == offer.items[1].preview)
        for event in events.all {
            switch event {
            case .offered(let offer, _), .judged(let offer, _, _): #expect(!offer.hasPreviews)
            default: break
            }
        }
        let transfer = try reception.begin(offer.transfer, from: peer)
        #expect(!transfer.offer.hasPreviews)
        reception.end(transfer, transfer.fail(TransferError(.cancelled, "")), fault: nil)
    }
}
