import Contacts
import Operations
import Sharing
import TestSupport
import Testing

@testable import CommandLine

@Suite("Transfers that come in")
struct ReceivingCoursesTests {
    @Test("the progress and the end of a transfer name the sender as the user knows it")
    func sender() throws {
        let folder = TemporaryFolder()
        let people = Acquaintances(try .withAnna(folder))
        let courses = ReceivingCourses()
        for (peer, name, shown) in [
            (PeerID.sample(1), "anna", "anna ✓"),
            (.sample(2), "a test", "stranger \"a test\" (\(PeerID.sample(2).short))"),
        ] {
            let offer = Offer.sample()
            courses.begin(offer, from: people.person(peer, callingItself: offer.senderName))
            #expect(courses.text(offer.transfer, 1, of: 5)?.hasPrefix("file-0 from \(name) ") == true)
            #expect(courses.end(offer.transfer) == shown)
            #expect(courses.end(offer.transfer) == nil)
        }
    }
}
