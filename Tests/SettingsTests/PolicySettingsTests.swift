import Contacts
import Foundation
import SecureTransport
import Sharing
import TestSupport
import Testing
import UniformTypes

@testable import Settings

@Suite("policy: in the configuration")
struct PolicySettingsTests {
    private func policy(_ text: String) throws -> Policy? {
        let folder = TemporaryFolder()
        var settings = Settings(hostName: "host")
        try settings.read(file: folder.file("config.yaml", text), dialects: .samples)
        return settings.places["policy"] == nil ? nil : settings.policy
    }

    private func complaint(_ text: String) -> String? {
        do {
            _ = try policy(text)
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test("rules are read in their order, with single values and lists")
    func rules() throws {
        let read = try policy(
            """
            name: kitchen
            policy:
              - from: [Anna, strangers]
                type: public.image
                name: '*.jpg'
                sizeAtMost: 5 GB
                time: 08:00-18:00
                days: [mon-fri]
                then: accept
                folder: Photos/Anna
                handler: Photos
              # A comment.
              - {then: decline}
            port: 7
            """)
        let first = PolicyRule(
            [
                .from([.contact(try ContactName("anna")), .strangers]),
                .types([try #require(UniformType("public.image"))]),
                .names([try NamePattern("*.jpg")]), .sizeAtMost(5_000_000_000),
                .time(try TimeWindow("08:00-18:00", days: [.monday, .tuesday, .wednesday, .thursday, .friday])),
            ], .accept, try Destination(handler: "Photos", folder: try SafeRelativePath("Photos/Anna")))
        #expect(read?.rules == [first, PolicyRule([], .decline)])
    }

    @Test("an empty list of rules is valid, and without a list there are no rules")
    func none() throws {
        #expect(try policy("policy: []") == Policy.none)
        #expect(try policy("policy:\n#- {then: ask}\n") == Policy.none)
        #expect(try policy("name: kitchen") == nil)
        #expect(Settings(hostName: "host").policy == Policy.none)
    }

    @Test("the template's rules are examples that can be used")
    func template() throws {
        let examples = ConfigurationTemplate.text.split(separator: "\n").filter {
            $0.hasPrefix("#") && !$0.hasPrefix("# ")
        }
        let read = try policy(examples.map { $0.dropFirst() }.joined(separator: "\n"))
        #expect((read?.rules.count ?? 0) >= 2)
        for key in PolicyRule.keys {
            #expect(ConfigurationTemplate.text.contains(key), "\(key) is explained")
        }
    }

    @Test(
        "an impossible rule is refused with file and line, and its number",
        arguments: [
            ("policy: accept", "line 1: policy should be a list of rules"),
            ("name: a\npolicy: {then: ask}", "line 2: policy should be a list of rules"),
            ("policy:\n- {then: ask}\n- accept", "line 3: rule 2 should be `key: value` pairs"),
            ("policy:\n- {then: ask}\n\n- from: anna", "line 4: rule 2: a rule needs then: accept, ask or decline"),
            (
                "policy:\n- then: ask\n  form: anna",
                "line 3: rule 1 has \"form\", which no rule can have; there are: from"
            ),
            ("policy:\n- then: ask\n  [1]: anna", "rule 1 has \"?\", which no rule can have"),
            ("policy:\n- then: ask\n  \"\\e[2J\": anna", "rule 1 has \"\\u{1B}[2J\", which no rule can have"),
            ("policy:\n- {then: maybe}", "line 2: rule 1: then: \"maybe\" is not accept, ask or decline"),
            ("policy:\n- {then: [ask, accept]}", "rule 1: then has one value, not 2"),
            ("policy:\n- {then: }", "rule 1: then: \"\" is not accept"),
            ("policy:\n- then: ask\n  from: {a: b}", "line 3: rule 1: from should be a value or a list of values"),
            ("policy:\n- then: ask\n  from: [[a]]", "line 3: rule 1: from should be a value or a list of values"),
            ("policy:\n- {then: ask, from: []}", "rule 1: from has 1 to 64 values, not 0"),
            ("policy:\n- {then: ask, type: jpg}", "its type is public.jpeg"),
            ("policy:\n- {then: ask, type: org.example.unknown}", "is not a known uniform type"),
            ("policy:\n- {then: ask, sizeAtMost: much}", "is not a size"),
            ("policy:\n- {then: ask, time: 25:00-26:00}", "is not a time of the day"),
            ("policy:\n- {then: accept, folder: ../x}", "is not a folder below the Inbox"),
            (
                "policy:\n- {then: decline, folder: x}",
                "a rule with then: decline cannot have a handler, folder or protection"
            ),
            (
                "policy:\n- then: ask\n  then: accept",
                "line 3: rule 1 has then again, after line 2; several values are a list"
            ),
            ("policy: []\npolicy: []", "line 2: policy stands here again; line 1 has it already"),
        ])
    func unusable(text: String, expected: String) {
        let complaint = complaint(text)
        #expect(complaint?.contains(expected) == true, "\(complaint ?? "it was taken")")
        #expect(complaint?.contains("/config.yaml") == true)
        #expect(complaint?.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control } == true, "one line")
    }

    @Test("too many rules and values are refused by their number, also where one stands for many")
    func many() throws {
        let rules = String(repeating: "- {then: ask}\n", count: ContactBounds.rules)
        #expect(try policy("policy:\n" + rules)?.rules.count == ContactBounds.rules)
        #expect(complaint("policy:\n" + rules + "- {then: ask}\n")?.contains("at most 256 rules") == true)
        let names = (0..<200).map { "n\($0)" }.joined(separator: ", ")
        #expect(complaint("policy:\n- {then: ask, from: [\(names)]}")?.contains("from has 1 to 64 values") == true)
        let nested = (1..<12).map {
            "- &a\($0) [\(Array(repeating: "*a\($0 - 1)", count: 10).joined(separator: ", "))]"
        }
        let bomb = "policy:\n- &a0 [x]\n" + nested.joined(separator: "\n")
        #expect(complaint(bomb)?.contains("there are more than 100 aliases") == true)
        let small = "policy:\n- &a0 [x]\n" + nested.prefix(9).joined(separator: "\n")
        #expect(complaint(small)?.contains("aliases repeat more than 100 values") == true)
        #expect(complaint("? [&a [x], *a]\n: 1")?.contains("line 1: a key should be a word") == true)
    }

    @Test("rules can name the types that handlers declare")
    func declared() throws {
        let folder = TemporaryFolder()
        let path = folder.file("config.yaml", "policy:\n- {then: ask, type: org.example.notes}\n")
        let type = try #require(UniformType("org.example.notes"))
        let home = try Home(environment: ["WAFT_HOME": folder.path])
        let handler = home.handlers + "/Notes.handler"
        try FileManager.default.createDirectory(
            atPath: handler, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        let keys: [String: Any] = [
            "CFBundleIdentifier": "org.example.notes-handler", "CFBundleExecutable": "run",
            "UTExportedTypeDeclarations": [
                ["UTTypeIdentifier": "org.example.notes", "UTTypeConformsTo": ["public.data"]]
            ],
        ]
        try PropertyListSerialization.data(fromPropertyList: keys, format: .xml, options: 0)
            .write(to: URL(fileURLWithPath: handler + "/Info.plist"))
        _ = FileManager.default.createFile(
            atPath: handler + "/run", contents: Data("#!/bin/sh\n".utf8), attributes: [.posixPermissions: 0o755])
        var settings = Settings(hostName: "host")
        #expect(throws: Settings.InvalidError.self) { try settings.read(file: path, dialects: .samples) }
        try settings.read(file: path, dialects: .samples, registry: home.typeRegistry())
        #expect(settings.policy.rules == [PolicyRule([.types([type])], .ask)])
    }

    @Test("contacts and visibility are in the state folder, and a peer is the same at each request")
    func home() throws {
        let folder = TemporaryFolder()
        let home = try Home(environment: ["WAFT_HOME": folder.path])
        #expect(home.contactsPath == folder / "state/contacts.json")
        #expect(home.visibilityPath == folder / "state/visibility.json")
        #expect(home.contactBook().path == home.contactsPath)
        #expect(try home.contactBook().snapshot().contacts.isEmpty)
        try home.makeFolders()
        #expect(try home.ownID() == home.ownID())
    }
}
