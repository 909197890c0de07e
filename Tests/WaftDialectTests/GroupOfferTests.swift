import Groups
import NIOCore
import Sharing
import TestSupport
import Testing

@testable import WaftDialect

@Suite("Groups in offers and verdicts")
struct GroupOfferTests {
    private func offer(_ group: String) throws -> Offer {
        let id = TransferID().text
        let item = #"{"kind":"file","name":"a","type":"public.data","size":5}"#
        return try WaftDialect.offer(
            from: ByteBuffer(string: #"{"v":1,"transfer":"\#(id)","group":\#(group)}"# + "\n" + item))
    }

    @Test("an offer in a group reads back as it was written")
    func offerRoundTrip() throws {
        var written = Offer.sample()
        for members in [3, 64] {
            written.group = OfferedGroup(id: GroupID(), members: members)
            #expect(try WaftDialect.offer(from: WaftDialect.encode(written)).group == written.group)
        }
    }

    @Test("neither field is written if it is not set")
    func absent() throws {
        let offer = Offer.sample()
        #expect(try !String(buffer: WaftDialect.encode(offer)).contains("group"))
        #expect(try WaftDialect.offer(from: WaftDialect.encode(offer)).group == nil)
        let verdict = Verdict(all: .accepted, count: offer.items.count)
        #expect(try !String(buffer: WaftDialect.encode(verdict)).contains("relay"))
    }

    @Test("the field of an offer has the form that the protocol says")
    func example() throws {
        let id = "0123456789abcdef0123456789abcdef"
        let group = try offer(#"{"id":"\#(id)","members":23,"block":65536,"later":[1]}"#).group
        #expect(group == GroupID(id).map { OfferedGroup(id: $0, members: 23) })
    }

    @Test(
        "a group that is none leaves the offer good",
        arguments: [
            "null", "true", "7", "\"\"", "[]", "{}", "[{}]", #"{"id":"ID"}"#, #"{"id":"ID","members":23}"#,
            #"{"id":"ID","members":2,"block":65536}"#, #"{"id":"ID","members":65,"block":65536}"#,
            #"{"id":"ID","members":-1,"block":65536}"#, #"{"id":"ID","members":3.5,"block":65536}"#,
            #"{"id":"ID","members":99999999999999999999,"block":65536}"#, #"{"id":"ID","members":"3","block":65536}"#,
            #"{"id":"ID","members":3,"block":65535}"#, #"{"id":"ID","members":3,"block":131072}"#,
            #"{"id":"ID0","members":3,"block":65536}"#, #"{"id":"","members":3,"block":65536}"#,
            #"{"id":7,"members":3,"block":65536}"#, #"{"id":"XD","members":3,"block":65536}"#,
        ])
    func strangeGroups(text: String) throws {
        let read = try offer(text.replacing("ID", with: GroupID().text))
        #expect(read.group == nil)
        #expect(read.items.count == 1)
    }

    @Test("a verdict says whether its receiver may relay, if it was asked in a group")
    func verdict() throws {
        var offer = Offer.sample()
        var written = Verdict(all: .accepted, count: offer.items.count)
        for (hasGroup, mayRelay) in [(true, true), (true, false), (false, true)] {
            offer.group = hasGroup ? OfferedGroup(id: GroupID(), members: 3) : nil
            written.mayRelay = mayRelay
            let read = try WaftDialect.verdict(from: WaftDialect.encode(written), on: offer)
            #expect(read.mayRelay == (hasGroup && mayRelay))
        }
    }

    @Test(
        "a relay of another form is none, and leaves the verdict good",
        arguments: [
            "null", "true", "1", "[]", "{}", #"{"may":1}"#, #"{"may":"true"}"#, #"{"may":null}"#, #"{"may":false}"#,
        ])
    func strangeRelays(text: String) throws {
        var offer = Offer.sample()
        offer.group = OfferedGroup(id: GroupID(), members: 3)
        let verdict = try WaftDialect.verdict(
            from: ByteBuffer(string: #"{"v":1,"digest":"xxh3-128","default":"accepted","relay":\#(text)}"#), on: offer)
        #expect(!verdict.mayRelay)
        #expect(verdict.acceptsAnything)
    }
}
