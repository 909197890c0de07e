import Foundation
import HandlerCatalog
import Lines
import TestSupport
import Testing

@testable import CommandLine

@Suite("waft handlers settings")
struct HandlersSettingsTests {
    private let shelf = HandlerShelf()

    init() throws {
        let bundle = try shelf.write("Photos", HandlerShelf.keys("org.example.photos", ["public.image"]))
        try shelf.write("Plain", HandlerShelf.keys("org.example.plain"))
        try write(
            [
                ["Type": "PSGroupSpecifier", "Title": "Im\u{1B}port", "FooterText": "For new photos."],
                ["Type": "PSTextFieldSpecifier", "Key": "album", "Title": "Album", "DefaultValue": "Camera"],
                ["Type": "PSTextFieldSpecifier", "Key": "token", "IsSecure": true, "DefaultValue": "secret"],
                [
                    "Type": "PSSliderSpecifier", "Key": "quality", "Title": "Quality", "MinimumValue": -1,
                    "MaximumValue": 1, "DefaultValue": 0.8,
                ],
                [
                    "Type": "PSMultiValueSpecifier", "Key": "size", "Title": "Size", "Values": ["small", "large"],
                    "Titles": ["Small", "Large \u{202E}"],
                ],
                ["Type": "PSTitleValueSpecifier", "Key": "version", "Title": "Version", "DefaultValue": "1.2"],
                ["Type": "PSOddSpecifier", "Title": "Odd"],
            ], to: bundle)
    }

    private func write(_ specifiers: [[String: Any]], to bundle: String) throws {
        let folder = bundle + "/Settings.bundle"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        chmod(folder, 0o755)
        let data = try PropertyListSerialization.data(
            fromPropertyList: ["PreferenceSpecifiers": specifiers], format: .binary, options: 0)
        try data.write(to: URL(fileURLWithPath: folder + "/Root.plist"))
        chmod(folder + "/Root.plist", 0o644)
    }

    private var file: String { shelf.folder / "config/handlers/org.example.photos.json" }

    @Test("without a key all are listed, each with its value, its source, its title and the accepted values")
    func list() async throws {
        let report = try await shelf.run("settings", "Photos")
        #expect(
            report.results == [
                #"Im\u{1B}port"#,
                "  For new photos.",
                "  album    Camera  (the default)  Album: text of at most 4096 bytes",
                "  token    (hidden)  (the default)  text of at most 4096 bytes",
                "  quality  0.8  (the default)  Quality: a number, -1 to 1",
                #"  size     small  (the default)  Size: one of small (Small), large (Large \u{202E})"#,
                "  version  1.2  (the default)  Version: as the handler has it: it is only shown",
                "  Odd  (Waft does not know PSOddSpecifier)",
            ])
        #expect(!report.isChange && report.isPrintable)
        let plain = try await shelf.run("settings", "Plain")
        #expect(plain.results == [] && plain.notes == ["Plain has no settings"])
    }

    @Test("a value is set, read, and returned to the default, and the receiver is told of each change")
    func change() async throws {
        let set = try await shelf.run("settings", "org.example.photos", "quality", "0.5")
        #expect(set.results == ["quality: 0.5  (was 0.8, the default)"] && set.isChange)
        #expect(try await shelf.run("settings", "Photos", "quality").results == ["0.5"])
        #expect(try await shelf.run("settings", "Photos").results.contains { $0.contains("quality  0.5  (set)") })
        #expect(try await !shelf.run("settings", "Photos", "quality", "0.50").isChange)
        #expect(
            try await shelf.run("settings", "Photos", "quality", "--", "-0.5").results == ["quality: -0.5  (was 0.5)"])
        let back = try await shelf.run("settings", "Photos", "quality", "--unset")
        #expect(back.results == ["quality: 0.8, the default  (was -0.5)"] && back.isChange)
        #expect(try await !shelf.run("settings", "Photos", "quality", "--unset").isChange)
        #expect(
            try await shelf.run("settings", "Photos", "size", "LARGE \u{202E}").results == [
                "size: large  (was small, the default)"
            ])
        #expect(
            try await shelf.run("settings", "Photos", "album", "").results == ["album: \"\"  (was Camera, the default)"]
        )
        #expect(
            try await shelf.run("settings", "Photos", "token", "x").results == [
                "token: (hidden)  (was (hidden), the default)"
            ])
        #expect(try await shelf.run("settings", "Photos", "token").results == ["x"])
        #expect(FileManager.default.contents(atPath: file) != nil)
    }

    @Test("a wrong value, key or handler is wrong usage with one line that names the right ones, and changes nothing")
    func wrong() async throws {
        let failures: [([String], Int32, String)] = [
            (["quality", "2"], 64, #"quality should be a number, -1 to 1, and is "2""#),
            (["quality", "fast\u{1B}"], 64, #"quality should be a number, -1 to 1, and is "fast\u{1B}""#),
            (
                ["size", "smal"], 64,
                #"size should be one of small (Small), large (Large \u{202E}), and is "smal"; did you mean small?"#
            ),
            (["version", "2"], 64, "version cannot be changed: Waft only shows it"),
            (
                ["qualty"], 64,
                #"there is no setting "qualty"; did you mean quality? All: waft handlers settings Photos"#
            ),
            (["x\u{1B}[2J", "1"], 64, #"there is no setting "x\u{1B}[2J"; all: waft handlers settings Photos"#),
        ]
        for (words, exit, message) in failures {
            do {
                _ = try await shelf.run(["settings", "Photos"] + words)
                Issue.record("\(words) is accepted")
            } catch let failure as CommandError {
                #expect(failure.exit.rawValue == exit)
                #expect(failure.message == message)
            }
        }
        #expect(await shelf.failure("settings", "Photos", "album", String(repeating: "a", count: 4_097)).exit == 64)
        #expect(await shelf.failure("settings", "Photos", "--unset").exit == 64)
        #expect(await shelf.failure("settings", "Photos", "album", "x", "--unset").exit == 64)
        #expect(await shelf.failure("settings", "Nobody").exit == 66)
        #expect(await shelf.failure("settings", "Plain", "x").message == "Plain has no settings")
        #expect(await shelf.failure("settings", "Inbox", "x").exit == 64)
        #expect(!FileManager.default.fileExists(atPath: file))
    }

    @Test("with --json a setting and a change are a document each")
    func json() async throws {
        let list = try await shelf.run("settings", "Photos", "--json").documents
        #expect(list.map { $0["setting"] as? String } == ["album", "token", "quality", "size", "version"])
        #expect(list.map { $0["form"] as? String } == ["text", "text", "number", "word", "fixed"])
        #expect(
            list[3]["choices"] as? [[String: String]] == [
                ["choice": "small", "title": "Small"], ["choice": "large", "title": "Large \u{202E}"],
            ])
        let changed = try await shelf.run("settings", "Photos", "album", "Trip", "--json").documents[0]
        #expect(changed["event"] as? String == "handlerSettingChanged")
        #expect(changed["values"] as? [String] == ["Trip"] && changed["formerValues"] as? [String] == ["Camera"])
        let one = try await shelf.run("settings", "Photos", "album", "--json").documents[0]
        #expect(one["values"] as? [String] == ["Trip"] && one["setBy"] as? String == file)
        #expect(
            try await shelf.run("settings", "Photos", "album", "--unset", "--json").documents[0]["values"] as? [String]
                == [
                    "Camera"
                ])
    }

    @Test("a broken Settings.bundle is a warning in the list, and the handler stays in use")
    func broken() async throws {
        let path = shelf.user + "/Photos.handler/Settings.bundle/Root.plist"
        try Data("hello".utf8).write(to: URL(fileURLWithPath: path))
        chmod(path, 0o644)
        let report = try await shelf.run("list")
        #expect(
            report.results.contains(
                "  warning: Settings.bundle/Root.plist is neither an XML nor a binary property list"))
        #expect(report.results.contains("Photos  org.example.photos  enabled"))
    }

    @Test("the values are kept when a handler is removed, and deleted with --data")
    func removed() async throws {
        let bundle = shelf.user + "/Photos.handler"
        let copy = shelf.folder / "copy"
        try FileManager.default.copyItem(atPath: bundle, toPath: copy)
        _ = try await shelf.run("settings", "Photos", "album", "Trip")
        _ = try await shelf.run("remove", "Photos")
        #expect(FileManager.default.fileExists(atPath: file))
        try FileManager.default.copyItem(atPath: copy, toPath: bundle)
        #expect(try await shelf.run("settings", "Photos", "album").results == ["Trip"])
        _ = try await shelf.run("remove", "Photos", "--data")
        #expect(!FileManager.default.fileExists(atPath: file))
    }
}
