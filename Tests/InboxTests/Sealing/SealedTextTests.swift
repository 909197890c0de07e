import Digests
import Sharing
import Testing

@testable import Inbox

@Suite("The sealed text of digests")
struct SealedTextTests {
    @Test("reads back as it was written, and nothing else is one")
    func roundTrip() {
        let (sent, lasting, own) = (
            Digest.of(.xxh3_128, [1]), Digest.of(.lasting, [2]), Digest.of(.lasting, [3])
        )
        for digests in [
            ContentDigests(lasting: lasting, sent: lasting), ContentDigests(lasting: lasting, sent: sent),
            ContentDigests(lasting: nil, sent: sent), ContentDigests(lasting: lasting, sent: sent, own: own),
            ContentDigests(lasting: lasting, sent: lasting, own: own),
        ] {
            #expect(ContentDigests(sealedText: digests.sealedText) == digests, "\(digests)")
        }
        for text in ["", "-", "\(sent) -x", "\(sent) \(lasting) -", "\(sent) \(lasting) \(own) \(own)", "\(sent) "] {
            #expect(ContentDigests(sealedText: text) == nil, "\(text)")
        }
    }
}
