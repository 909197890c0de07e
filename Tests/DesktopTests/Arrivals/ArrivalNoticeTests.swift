import ContentCheck
import Sharing
import TestSupport
import Testing

@testable import Desktop

@Suite("The notification for arrivals")
struct ArrivalNoticeTests {
    private let contact = Introduction(contact: "laptop", key: "k7qf")

    @Test("it names the first item, counts the others, and has two buttons")
    func whole() {
        let notice = ArrivalNotice.request(
            for: .sample("report.pdf", "a", "b"), from: contact, canOpen: true)
        #expect(notice.summary == "3 items have arrived")
        #expect(notice.body == "“report.pdf” and 2 more from your contact “laptop”")
        #expect(notice.bodyWithoutActions == notice.body + "\nTo see them: waft inbox")
        #expect(notice.actions.map(\.label) == ["Open", "Show in folder"])
    }

    @Test("one item has its own command, for a server without buttons")
    func single() {
        let group = ArrivalGroup.sample("report.pdf")
        let notice = ArrivalNotice.request(for: group, from: .stranger("laptop", .sample(1)), canOpen: true)
        #expect(notice.summary == "1 item has arrived")
        #expect(notice.body == "“report.pdf” from stranger \"laptop\" (\(PeerID.sample(1).short))")
        #expect(notice.bodyWithoutActions?.hasSuffix("\nTo open it: waft inbox open 1") == true)
        let closed = ArrivalNotice.request(for: group, from: .stranger("laptop", .sample(1)), canOpen: false)
        #expect(closed.actions.map(\.label) == ["Show in folder"])
        #expect(closed.bodyWithoutActions?.hasSuffix("\nTo see it: waft inbox show 1") == true)
    }

    @Test("the subject of the sender follows, as in an offer, and not while the session is locked")
    func subject() {
        let item = Arrival.sample(1, "photo.jpg", annotation: [Offer.subjectKey: "Holidays <b>"])
        let group = ArrivalGroup([item], count: 1)
        let notice = ArrivalNotice.request(for: group, from: contact, canOpen: false)
        #expect(
            notice.body.split(separator: "\n").count == 2 && notice.body.contains("\nSubject: Holidays "),
            "\(notice.body)")
        #expect(!ArrivalNotice.locked(group).body.contains("Holidays"))
    }

    @Test("an item whose content contradicts its type is named as such")
    func liar() {
        let verdict = ContentVerdict(.lying, nil, "the content is a program")
        let item = Arrival.sample(1, "photo.jpg", content: verdict)
        let notice = ArrivalNotice.request(
            for: ArrivalGroup(Array(repeating: item, count: 4), count: 4), from: contact, canOpen: false)
        let warning = "Careful with “photo.jpg”: the content is a program"
        #expect(
            notice.body.split(separator: "\n").dropFirst()
                == [Substring(warning), Substring(warning), "Careful with 2 more"])
    }

    @Test("while the session is locked it has neither names nor buttons")
    func locked() {
        let notice = ArrivalNotice.locked(.sample("secret.pdf", "b", "c"))
        #expect(notice.summary == "3 items have arrived")
        #expect(notice.body == "Unlock to see them.")
        #expect(notice.bodyWithoutActions == nil)
        #expect(notice.actions.isEmpty)
    }

    @Test("a burst is counted, without names of items")
    func burst() {
        var group = ArrivalGroup.sample("a", "b")
        group.add(.sample("c"))
        let notice = ArrivalNotice.request(for: group, from: contact, canOpen: true)
        #expect(notice.summary == "3 items have arrived")
        #expect(notice.body == "In 2 transfers, from your contact “laptop”")
        #expect(notice.actions.map(\.label) == ["Show in folder"])
        group.add(.sample("d", from: 2))
        #expect(
            ArrivalNotice.request(for: group, from: contact, canOpen: false).body
                == "In 3 transfers, from several senders")
    }

    @Test("a foreign name cannot end its quotation, write a line of its own, or push the rest away")
    func hostile() {
        let name = "x” from “Anna" + String(repeating: "y", count: 200)
        let item = Arrival.sample(1, name, senderName: "B”ob\nfrom “Anna")
        let notice = ArrivalNotice.request(
            for: ArrivalGroup([item], count: 1), from: .stranger(item.senderName, .sample(1)), canOpen: true)
        #expect(notice.body.split(separator: "\n").count == 1)
        #expect(notice.body.hasPrefix("“x\\u{201D} from “Annayyy"))
        #expect(notice.body.contains("y” from stranger \"B_ob from _Anna\" ("))
        #expect(notice.body.unicodeScalars.count < 300)
    }
}
