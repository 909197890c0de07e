import TestSupport
import Testing
import UniformTypes

@testable import Desktop
@testable import Sharing

@Suite("The text of a notification of an offer")
struct OfferNoticeTests {
    private func notice(
        _ offer: Offer, _ sender: Introduction? = nil, freeRoom: UInt64 = 5_000_000_000
    ) -> NotificationRequest {
        let waiting = WaitingOffer(number: 3, offer: offer, peer: .sample(7), freeRoom: freeRoom)
        return OfferNotice.request(for: waiting, from: sender ?? .stranger(offer.senderName, .sample(7)))
    }

    @Test("an offer to many says how many, and that this machine passes it on")
    func groups() {
        var offer = Offer.sample()
        offer.group = OfferedGroup(id: GroupID(), members: 3)
        let waiting = WaitingOffer(number: 3, offer: offer, peer: .sample(7), freeRoom: 1)
        let sender = Introduction.stranger("study", .sample(7))
        #expect(OfferNotice.request(for: waiting, from: sender).body.contains("\nTo you and 2 others\n"))
        let sealed = OfferNotice.request(for: waiting, from: sender, isSealed: true, relay: .accepted)
        #expect(sealed.body.contains("\nTo you and 2 others; your machine passes it on to one other\n"))
    }

    @Test("it names the sender, the items, their size and the other ways to answer")
    func whole() {
        var offer = Offer(
            items: [
                OfferedItem(kind: .file, name: safe("report.pdf"), type: uniform("com.adobe.pdf"), size: 4_200_000),
                OfferedItem(
                    kind: .tree, name: safe("photos"), type: uniform("public.folder"), size: 1_000, entries: 13),
                OfferedItem(kind: .file, name: safe("stream"), type: uniform("public.data"), size: nil),
            ],
            senderName: "study")
        offer.annotation["note"] = "as promised"
        let notice = notice(offer)
        #expect(notice.summary == "Accept 3 items, 4.2 MB or more?")
        let id = PeerID.sample(7).short
        #expect(
            notice.body == """
                From stranger "study" (\(id))
                “report.pdf”: PDF document, 4.2 MB
                “photos”: folder, 1.0 kB, 12 things in it
                “stream”: data, size not known
                Note: as promised
                5.0 GB free; waft accept 3
                """)
        #expect(notice.actions.map(\.label) == ["Accept", "Decline"])
        #expect(notice.expiry == .never)
    }

    @Test("a contact stands under the user's own name for it, not under its own")
    func contact() {
        let text = notice(.sample(), Introduction(contact: "my laptop", key: "k7qf")).body
        #expect(text.hasPrefix("From your contact “my laptop” (\(PeerID.sample(7).short))\n"))
        #expect(!text.contains("a test"))
    }

    @Test("a stranger that has a contact's name is not that contact")
    func impostor() {
        let sender = Introduction(
            strangerNamed: "Kitchen", key: PeerID.sample(7).short, unprovenBy: nil, claims: "kitchen")
        #expect(
            notice(.sample(), sender).body.hasPrefix(
                "From stranger \"Kitchen\" (\(PeerID.sample(7).short), not your contact kitchen)\n"))
    }

    @Test("a stranger cannot write a line of its own, nor end its name early, nor put anything into the summary")
    func hostile() {
        var offer = Offer.sample(items: 1)
        offer.senderName = "Ann”, your contact\nFrom your contact “Ann"
        offer.annotation["note"] = "x\n\u{202E}0 bytes free\u{1B}[1m" + String(repeating: "y", count: 10_000)
        let notice = notice(offer)
        #expect(notice.summary == "Accept 1 item, 5 bytes?")
        let lines = notice.body.split(separator: "\n")
        #expect(lines.count == 4)
        #expect(lines[0].hasPrefix("From stranger \"Ann_, your contact From your contact _Ann\" ("))
        #expect(lines[2].hasPrefix("Note: x\\n\\u{202E}0 bytes free\\u{1B}[1myyy"))
        #expect(lines[2].count <= 130)
    }

    @Test("of very many items a few are shown, and the sizes do not overflow")
    func many() {
        var offer = Offer.sample(items: Limits.items, size: Limits.itemBytes)
        offer.senderName = String(repeating: "x", count: 1_000)
        let notice = notice(offer)
        #expect(notice.body.contains("\nand 9996 more\n"))
        #expect(notice.body.unicodeScalars.count < NotificationLimits.bodyLength)
        #expect(notice.summary.unicodeScalars.count < NotificationLimits.summaryLength)
    }

    @Test("the longest offer that there can be is not cut before its last line")
    func longest() {
        let name = safe(String(repeating: "n", count: 255))
        let item = OfferedItem(kind: .tree, name: name, type: uniform("public.folder"), size: .max, entries: .max)
        var offer = Offer(items: Array(repeating: item, count: 10), senderName: String(repeating: "<", count: 255))
        offer.annotation["note"] = String(repeating: "&", count: 1_000)
        let waiting = WaitingOffer(number: .max, offer: offer, peer: .sample(7), freeRoom: .max)
        let notice = OfferNotice.request(for: waiting, from: .stranger(offer.senderName, .sample(7)))
        #expect(notice.body.unicodeScalars.count < NotificationLimits.bodyLength)
    }

    @Test("the rest is counted")
    func surplus() {
        #expect(OfferNotice.surplus(1).summary == "1 more offer waits")
        #expect(OfferNotice.surplus(492).summary == "492 more offers wait")
        #expect(OfferNotice.surplus(2).actions.isEmpty)
    }
}
