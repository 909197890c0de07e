import Testing

@testable import Settings

@Suite("The setting for notifications")
struct NotificationRuleTests {
    private func read(_ text: String) throws -> NotificationRule {
        var settings = Settings(hostName: "kitchen")
        try settings.read(environment: ["WAFT_NOTIFICATIONS": text])
        return settings.notifications
    }

    @Test("is a truth value, as before, or one kind of event")
    func values() throws {
        #expect(try read("true") == .all)
        #expect(try read("off") == .off)
        #expect(try read("offers") == .offers)
        #expect(try read("arrivals") == .arrivals)
        #expect(!NotificationRule.offers.includesArrivals && NotificationRule.offers.includesOffers)
        #expect(!NotificationRule.arrivals.includesOffers && NotificationRule.arrivals.includesArrivals)
        #expect(throws: Settings.InvalidError.self) { try read("some") }
    }
}
