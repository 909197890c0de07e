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
        let owner = "18aa574bcc2e2f208eb6e983b7a2cd8e94c248cc7e1b0b466e92f9b0c7edbd99"
        #expect(PartialKey.owner(.sample(1)) == owner)
        #expect(key.text == owner + "460861bd4ac561b0dce8efdaf4081fe36dd4af0606ed4d273b3440e1839240cf")
        #expect(
            ConsentKey(offer, from: .sample(1)).text
                == "9eabbd844c74d2a6c83f06e14db604a330d7d62e21a60b70f628808564f705f6")
    }
}
