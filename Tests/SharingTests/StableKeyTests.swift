import Sharing
import TestSupport
import Testing
import UniformTypes

@Suite("Entries of a folder under a key")
struct StableKeyTests {
    private let offer = Offer.sample(items: 1, size: 5)

    // By sha256sum, of fields with their lengths; of the item: 4:item4:file6:file-011:public.data

    @Test("is found under the same key by a later version")
    func stable() throws {
        let key = try #require(PartialKey(offer.items[0], from: .sample(1)))
        #expect(PartialKey.owner(.sample(1)) == "18aa574bcc2e2f20")
        #expect(key.text == "18aa574bcc2e2f20460861bd4ac561b0")
        #expect(ConsentKey(offer, from: .sample(1)).text == "9eabbd844c74d2a6c83f06e14db604a3")
    }
}
