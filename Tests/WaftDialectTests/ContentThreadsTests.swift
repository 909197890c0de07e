import Sharing
import TestSupport
import Testing

@testable import WaftDialect

@Suite("The shares of the threads for contents")
struct ContentThreadsTests {
    /// Takes places until there are none.
    private func fill(
        _ threads: ContentThreads, isContact: Bool = false, _ visitor: (Int) -> Visitor
    ) -> [ContentThreads.Slot] {
        var places: [ContentThreads.Slot] = []
        while places.count < 1_000, let place = threads.take(for: visitor(places.count), isContact: isContact) {
            places.append(place)
        }
        return places
    }

    @Test("one stranger, by its key or its address, has a part of the strangers' part")
    func oneStranger() {
        let threads = ContentThreads()
        let byKey = fill(threads) { _ in Visitor(.sample(1)) }
        #expect(byKey.count == Limits.contentThreadsPerStranger)
        let address = AddressKey(v4: 0x7F00_0001)
        let byAddress = fill(threads) { number in Visitor(.sample(UInt8(number + 2)), at: address) }
        #expect(byAddress.count == Limits.contentThreadsPerStranger)
        #expect(threads.take(for: Visitor(.sample(200), at: AddressKey(v4: 1)), isContact: false) != nil)
        // A contact behind the same address is not counted with them.
        #expect(threads.take(for: Visitor(.sample(201), at: address), isContact: true) != nil)
    }

    @Test("all strangers together leave room for contacts, who can take all")
    func shares() {
        let threads = ContentThreads()
        let strangers = fill(threads) { Visitor(.sample(UInt8($0))) }
        #expect(strangers.count == Limits.contentThreadsOfStrangers)
        let contacts = fill(threads, isContact: true) { _ in Visitor(.sample(100)) }
        #expect(contacts.count == Limits.contentThreads - Limits.contentThreadsOfStrangers)
        #expect(fill(ContentThreads(), isContact: true) { _ in Visitor(.sample(1)) }.count == Limits.contentThreads)
    }

    @Test("a place is free again when it is let go of")
    func released() {
        let threads = ContentThreads()
        var places = fill(threads) { Visitor(.sample(UInt8($0))) }
        #expect(threads.take(for: Visitor(.sample(200)), isContact: false) == nil)
        places.removeLast()
        #expect(threads.take(for: Visitor(.sample(200)), isContact: false) != nil)
        withExtendedLifetime(places) {}
    }
}
