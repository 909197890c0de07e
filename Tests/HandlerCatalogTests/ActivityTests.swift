import PropertyLists
import Sharing
import Testing
import UniformTypes

@testable import HandlerCatalog

@Suite("The activities of a bundle")
struct ActivityTests {
    private let resize: [String: PropertyList] = [
        "WaftActivityType": .string("org.example.resize"), "Title": .string("Resize"),
        "ItemTypes": .array([.string("public.image")]),
    ]

    private func read(_ entries: [[String: PropertyList]]) throws -> (activities: [HandlerActivity], warnings: [String])
    {
        var contents = BundleContents(["WaftActivities": .array(entries.map { .dictionary($0) })])
        let activities = try contents.activities()
        return (activities, contents.warnings)
    }

    @Test("have a type, a title, the types of their items, and what else is given")
    func whole() throws {
        let more: [String: PropertyList] = [
            "MaximumItems": .integer(3), "Category": .string("share"), "CanPerform": .boolean(true),
        ]
        let found = try read([resize, resize.merging(more) { $1 }])
        #expect(found.warnings == [])
        #expect(
            found.activities == [
                HandlerActivity(type: "org.example.resize", title: "Resize", itemTypes: [.image]),
                HandlerActivity(
                    type: "org.example.resize", title: "Resize", itemTypes: [.image], maximumItems: 3,
                    category: .share, isAsked: true),
            ])
    }

    @Test(
        "without type, title or item types, or with a type of Waft's own, are left out with a warning",
        arguments: [
            ("WaftActivityType", nil, "no WaftActivityType"), ("WaftActivityType", "resize it", "no WaftActivityType"),
            ("WaftActivityType", "org.waft.activity.copy", "Waft's own"),
            ("WaftActivityType", "ORG.Waft.Activity.copy", "Waft's own"),
            ("Title", nil, "no Title"), ("Title", "a\u{1B}[2J", "no Title"), ("ItemTypes", nil, "takes no items"),
            ("Category", "Other", "none of share, action"),
        ] as [(String, String?, String)])
    func unusable(key: String, value: String?, reason: String) throws {
        var entry = resize
        entry[key] = value.map { .string($0) }
        let found = try read([entry, resize])
        #expect(found.activities.count == 1)
        #expect(found.warnings.count == 1 && found.warnings[0].contains(reason), "\(found.warnings)")
    }

    @Test("take their items only all together, by conformance and number")
    func taking() {
        let activity = HandlerActivity(type: "org.a.b", title: "b", itemTypes: [.image, .pdf], maximumItems: 2)
        #expect(activity.takes([.png, .pdf], .system))
        #expect(!activity.takes([.png, .plainText], .system))
        #expect(!activity.takes([.png, .png, .png], .system))
    }

    @Test("are at most 32")
    func limit() {
        #expect(throws: BundleError.self) { try read(Array(repeating: resize, count: 33)) }
    }

    @Test("of one type count once, of the handler that was installed first, and not if it is disabled")
    func snapshot() throws {
        let activity = HandlerActivity(type: "org.a.b", title: "b", itemTypes: [.image])
        func bundle(_ name: String, _ seconds: Int64) throws -> HandlerBundle {
            HandlerBundle(
                identifier: try #require(BundleIdentifier("org.example.\(name)")), name: name, path: "/\(name)",
                origin: .user, installed: Timestamp(seconds: seconds, nanoseconds: 0), executable: "/\(name)/run",
                activities: [activity])
        }
        let bundles = [try bundle("late", 2), try bundle("early", 1)]
        #expect(CatalogSnapshot(bundles: bundles).activities.map(\.bundle.name) == ["early"])
        var choices = UserChoices()
        choices.disabled = [bundles[1].identifier]
        #expect(CatalogSnapshot(bundles: bundles, choices: choices).activities.map(\.bundle.name) == ["late"])
    }
}
