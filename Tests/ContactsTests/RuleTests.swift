import Contacts
import Sharing
import TestSupport
import Testing
import UniformTypes

@Suite("Rules as they are written down")
struct RuleTests {
    @Test("all that a rule can say is read")
    func whole() throws {
        let read = try rule([
            "from": .list(["Anna", "strangers"]), "type": .scalar("public.image"),
            "name": .list(["*.jpg", "IMG_????.*"]),
            "sizeAtMost": .scalar("5 GB"), "sizeAtLeast": .scalar("10 kB"), "time": .scalar("22:00-6:30"),
            "days": .list(["mon-wed", "Saturday"]), "then": .scalar("accept"), "handler": .scalar("Photos"),
            "folder": .scalar("Photos/From others"), "protect": .scalar("complete"),
        ])
        let expected = PolicyRule(
            [
                .from([.contact(try name("anna")), .strangers]), .types([uniform("public.image")]),
                .names([try NamePattern("*.jpg"), try NamePattern("IMG_????.*")]), .sizeAtMost(5_000_000_000),
                .sizeAtLeast(10_000),
                .time(try TimeWindow("22:00-06:30", days: [.monday, .tuesday, .wednesday, .saturday])),
            ], .accept,
            try Destination(
                handler: "Photos", folder: try SafeRelativePath("Photos/From others"), protection: .complete))
        #expect(read == expected)
        #expect(try rule(["then": .scalar("ask")]) == PolicyRule([], .ask))
        #expect(try rule(["then": .scalar("ask"), "days": .scalar("sun")]).conditions.count == 1)
    }

    @Test(
        "each mistake is reported in one line",
        arguments: [
            (
                ["form": .scalar("anna"), "then": .scalar("ask")],
                "a rule cannot have \"form\"; there are: from, type, name, sizeAtMost, sizeAtLeast, sizePerDay, time, days, then, handler, folder, protect"
            ),
            ([:], "a rule needs then: accept, ask or decline"),
            (["then": .scalar("allow")], "then: \"allow\" is not accept, ask or decline"),
            (["then": .list(["ask", "accept"])], "then has one value, not 2"),
            (["then": .list([])], "then has one value, not 0"),
            (["from": .list([]), "then": .scalar("ask")], "from has 1 to 64 values, not 0"),
            (
                ["from": .scalar("a/b"), "then": .scalar("ask")],
                "from: \"a/b\" cannot be the name of a contact: it begins or ends with a space, or has slashes or characters in it that cannot be printed"
            ),
            (
                ["type": .scalar("public.imge"), "then": .scalar("ask")],
                "type: \"public.imge\" is not a known uniform type, such as public.image or com.adobe.pdf"
            ),
            (
                ["type": .scalar("jpg"), "then": .scalar("ask")],
                "type: \"jpg\" is a file name extension; its type is public.jpeg"
            ),
            (
                ["type": .scalar("image/png"), "then": .scalar("ask")],
                "type: \"image/png\" is a MIME type; its type is public.png"
            ),
            (
                ["type": .scalar("\u{1B}[0m"), "then": .scalar("ask")],
                "type: \"\\u{1B}[0m\" is not a known uniform type, such as public.image or com.adobe.pdf"
            ),
            (["name": .scalar(""), "then": .scalar("ask")], "name: a name pattern has 1 to 127 characters"),
            (
                ["name": .scalar(String(repeating: "x", count: 1_025)), "then": .scalar("ask")],
                "name: a value has at most 1024 bytes"
            ),
            (
                ["sizeAtMost": .scalar("5 GX"), "then": .scalar("ask")],
                "sizeAtMost: \"5 GX\" is not a size such as 500 kB, 64 MiB or 1.5 GB"
            ),
            (
                ["sizePerDay": .scalar("much"), "then": .scalar("ask")],
                "sizePerDay: \"much\" is not a size such as 500 kB, 64 MiB or 1.5 GB"
            ),
            (
                ["sizeAtLeast": .scalar("-1"), "then": .scalar("ask")],
                "sizeAtLeast: \"-1\" is not a size such as 500 kB, 64 MiB or 1.5 GB"
            ),
            (
                ["sizeAtMost": .scalar("1 kB"), "sizeAtLeast": .scalar("1 MB"), "then": .scalar("ask")],
                "no item can match this rule: sizeAtMost is less than sizeAtLeast"
            ),
            (
                ["time": .scalar("25:00-26:00"), "then": .scalar("ask")],
                "time: \"25:00-26:00\" is not a time of the day such as 08:00-18:30 or 22:00-06:00"
            ),
            (
                ["time": .scalar("08:00"), "then": .scalar("ask")],
                "time: \"08:00\" is not a time of the day such as 08:00-18:30 or 22:00-06:00"
            ),
            (
                ["days": .scalar("mo-fr"), "then": .scalar("ask")],
                "days: \"mo-fr\" is not a day of the week or a range of days, such as sat or mon-fri"
            ),
            (
                ["handler": .scalar("a/b"), "then": .scalar("ask")],
                "handler: \"a/b\" is not a handler's identifier or name"
            ),
            (
                ["folder": .scalar("../up"), "then": .scalar("ask")],
                "folder: \"../up\" is not a folder below the Inbox: the name is . or .."
            ),
            (
                ["folder": .scalar("/etc"), "then": .scalar("ask")],
                "folder: \"/etc\" is not a folder below the Inbox: the path is absolute"
            ),
            (
                ["folder": .scalar("x"), "then": .scalar("decline")],
                "a rule with then: decline cannot have a handler, folder or protection"
            ),
        ] as [([String: PolicyValue], String)])
    func mistakes(fields: [String: PolicyValue], line: String) {
        #expect(refusal { _ = try rule(fields) } == line)
    }

    @Test("a type that a bundle declares is known")
    func declared() throws {
        #expect(try rule(["type": .scalar("PUBLIC.JPEG"), "then": .scalar("ask")]).conditions.count == 1)
    }

    @Test("each condition matches exactly the offers that it describes")
    func conditions() throws {
        let (sunday, zone) = try local("2026-11-22 12:00", "Europe/Berlin")
        let setting = PolicySetting(at: sunday, zone: zone, visibility: .everyone, receiver: .everyone)
        let anna = PeerRelation.contact(try .sample())
        let rows: [([String: PolicyValue], OfferedItem, PeerRelation, Bool)] = [
            (["from": .scalar("contacts")], item(), anna, true),
            (["from": .scalar("contacts")], item(), .stranger, false),
            (["from": .scalar("strangers")], item(), anna, false),
            (["from": .scalar("strangers")], item(), .stranger, true),
            (["from": .scalar("everyone")], item(), .stranger, true), (["from": .scalar("ANNA")], item(), anna, true),
            (["from": .list(["berta", "carla"])], item(), anna, false),
            (["type": .scalar("public.image")], item(), anna, true),
            (["type": .scalar("public.data")], item(), anna, true),
            (["type": .scalar("public.jpeg")], item("a", "public.image"), anna, false),
            (["type": .scalar("public.jpeg")], item("a", "dyn.ah62d4"), anna, false),
            (["name": .scalar("*.JPG")], item(), anna, true), (["name": .scalar("*.jp")], item(), anna, false),
            (["sizeAtMost": .scalar("1 kB")], item(), anna, true),
            (["sizeAtMost": .scalar("999")], item(), anna, false),
            (["sizeAtMost": .scalar("1 TB")], item(size: nil), anna, false),
            (["sizeAtLeast": .scalar("1 kB")], item(), anna, true),
            (["sizeAtLeast": .scalar("1001")], item(), anna, false),
            (["sizeAtLeast": .scalar("1 TB")], item(size: nil), anna, true),
            (["days": .scalar("sun")], item(), anna, true), (["days": .scalar("mon-sat")], item(), anna, false),
            (["time": .scalar("12:00-12:01")], item(), anna, true),
            (["time": .scalar("11:00-12:00")], item(), anna, false),
            (["time": .scalar("12:00-13:00"), "days": .scalar("sat")], item(), anna, false),
        ]
        for (fields, offered, relation, holds) in rows {
            let rule = try rule(fields.merging(["then": .scalar("decline")]) { $1 })
            let decision = try Policy([rule]).decide(
                offered, of: OfferTotals(items: 1, knownSize: 1), from: relation, setting)
            #expect((decision.outcome == .decline) == holds, "\(fields)")
        }
    }

    @Test(
        "patterns match whole names, without regard to case",
        arguments: [
            ("*", "", true), ("*", "anything", true), ("?", "a", true), ("?", "", false), ("?", "ab", false),
            ("a", "A", true),
            ("*.jpg", "x.JPG", true), ("*.jpg", ".jpg", true), ("*.jpg", "x.jpg.exe", false),
            ("a*b*c", "a--b--c", true),
            ("a*b*c", "acb", false), ("**a**", "bab", true), ("[a-z]", "b", false), ("[a-z]", "[a-z]", true),
            ("a\\*", "a\\x", true),
            ("é", "e\u{301}", true), ("?", "👨‍👩‍👧", true), ("straße*", "STRASSE", false), ("*a?b*", "xxaabxx", true),
        ])
    func patterns(pattern: String, text: String, matches: Bool) throws {
        #expect(try NamePattern(pattern).matches(text) == matches)
    }

    @Test("a pattern that is hard for a matcher that goes back ends like any other")
    func hardPattern() throws {
        let hard = try NamePattern(String(repeating: "a*", count: 126) + "b")
        #expect(!hard.matches(String(repeating: "a", count: 1_000_000)))
        #expect(hard.matches(String(repeating: "a", count: 1_000) + "b"))
        #expect(refusal { _ = try NamePattern(String(repeating: "a", count: 128)) } != nil)
        #expect(try NamePattern(String(repeating: "?", count: 127)).matches(String(repeating: "x", count: 127)))
    }

    @Test("a pattern says the same as a matcher that tries everything")
    func againstBruteForce() throws {
        func matches(_ pattern: Substring, _ text: Substring) -> Bool {
            guard let first = pattern.first else { return text.isEmpty }
            if first == "*" {
                return matches(pattern.dropFirst(), text) || (!text.isEmpty && matches(pattern, text.dropFirst()))
            }
            guard let character = text.first, first == "?" || first == character else { return false }
            return matches(pattern.dropFirst(), text.dropFirst())
        }
        var numbers = SeededNumbers(seed: 7)
        for _ in 0..<3_000 {
            let pattern = String(
                (0..<Int.random(in: 1...6, using: &numbers)).map { _ in "ab*?".randomElement(using: &numbers) ?? "a" })
            let text = String(
                (0..<Int.random(in: 0...7, using: &numbers)).map { _ in "ab".randomElement(using: &numbers) ?? "a" })
            #expect(try NamePattern(pattern).matches(text) == matches(pattern[...], text[...]), "\(pattern) \(text)")
        }
    }

    @Test(
        "sizes are read as people type them",
        arguments: [
            ("0", 0), ("500", 500), ("1 byte", 1), ("999 bytes", 999), ("5 GB", 5_000_000_000), ("5gb", 5_000_000_000),
            ("1.5 MB", 1_500_000), ("64 KiB", 65_536), ("1.5KiB", 1_536), ("2 TiB", 2_199_023_255_552), ("0.001 kB", 1),
            ("18446744073709551615", UInt64.max),
        ])
    func sizes(text: String, bytes: UInt64) throws {
        #expect(try ByteCountText.read(text) == bytes)
    }

    @Test(
        "a text that is no size is refused",
        arguments: [
            "", "GB", "-1", "+1", "1.", ".5 GB", "1.2.3", "1e9", "5 GX", "5 G B", "٣", "1,5 GB", "18446744073709551616",
            "99999999 TiB",
            "0x10", "1.0001 kB", "5 GB\n", String(repeating: "9", count: 100_000),
        ])
    func noSizes(text: String) {
        #expect(refusal { _ = try ByteCountText.read(text) } != nil)
    }
}
