import Testing

@testable import Discovery

@Suite("The events that the consumer of a browse has got")
struct BrowseLedgerTests {
    @Test("an unchanged service is not reported again")
    func unchanged() throws {
        let ledger = Ledger()
        ledger.beginSession()
        let service = try Sample.service("abc")
        #expect(ledger.update(service) == .updated(service))
        #expect(ledger.update(service) == nil)
        let moved = try Sample.service("abc", port: 5000)
        #expect(ledger.update(moved) == .updated(moved))
    }

    @Test("a service that was never reported is not reported as removed")
    func unknown() {
        let ledger = Ledger()
        #expect(ledger.remove("abc") == nil)
    }

    @Test("a new responder removes only the services that it does not find")
    func nextSession() throws {
        let ledger = Ledger()
        ledger.beginSession()
        for name in ["a", "b", "c"] { _ = ledger.update(try Sample.service(name)) }
        #expect(ledger.endOfKnown() == [.allForNow])
        ledger.beginSession()
        #expect(ledger.update(try Sample.service("b")) == nil)
        #expect(ledger.endOfKnown() == [.removed(instance: "a"), .removed(instance: "c"), .allForNow])
        #expect(ledger.endOfKnown() == [.allForNow])
    }
}

/// The ledger as an object, because the macros of Testing cannot change values.
private final class Ledger {
    private var value = BrowseLedger()

    func beginSession() { value.beginSession() }
    func update(_ service: DiscoveredService) -> BrowseEvent? { value.update(service) }
    func remove(_ instance: String) -> BrowseEvent? { value.remove(instance) }
    func endOfKnown() -> [BrowseEvent] { value.endOfKnown() }
}
