import Contacts
import Lines
import Operations
import Sharing
import TestSupport
import Testing

@testable import CommandLine

@Suite("Transfers that come in")
struct ReceivingProgressTests {
    @Test("the progress and the end of a transfer name the sender as the user knows it")
    func sender() throws {
        let folder = TemporaryFolder()
        let people = KnownPeers(try .withAnna(folder))
        let courses = ReceivingProgress()
        for (peer, name, shown) in [
            (PeerID.sample(1), "anna", "anna ✓"),
            (.sample(2), "a test", "stranger \"a test\" (\(PeerID.sample(2).short))"),
        ] {
            let offer = Offer.sample()
            let sender = people.person(peer, callingItself: offer.senderName)
            courses.begin(OfferLine(offer, from: sender.fields), from: sender)
            let moved = ArrivingLine(offer.transfer, from: peer, bytes: 1, of: 5)
            #expect(courses.text(moved)?.hasPrefix("file-0 from \(name) ") == true)
            #expect(courses.end(offer.transfer.text) == shown)
            #expect(courses.end(offer.transfer.text) == nil)
        }
    }
}
