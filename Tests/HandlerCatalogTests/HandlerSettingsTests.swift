import Foundation
import Logging
import TestSupport
import Testing

@testable import HandlerCatalog

/// A handler with a `Settings.bundle`, in folders of its own.
struct SettingsShelf {
    let shelf = Shelf()
    let bundle: String

    /// - Parameter root: the specifiers of `Root.plist`; nil for none.
    init(_ root: [[String: Any]]?, format: PropertyListSerialization.PropertyListFormat = .xml) throws {
        bundle = try shelf.write("Photos", Shelf.keys("org.example.photos"))
        try FileManager.default.createDirectory(atPath: bundle + "/Settings.bundle", withIntermediateDirectories: true)
        chmod(bundle + "/Settings.bundle", 0o755)
        if let root { try write("Root", root, format: format) }
    }

    var values: String { shelf.folder / "config/handlers/org.example.photos.json" }

    func write(
        _ pane: String, _ specifiers: [[String: Any]], format: PropertyListSerialization.PropertyListFormat = .xml
    ) throws {
        let keys = ["PreferenceSpecifiers": specifiers]
        write(pane + ".plist", try PropertyListSerialization.data(fromPropertyList: keys, format: format, options: 0))
    }

    /// Writes a file into the `Settings.bundle`.
    func write(_ name: String, _ data: Data) {
        let path = bundle + "/Settings.bundle/" + name
        _ = FileManager.default.createFile(atPath: path, contents: data)
        chmod(path, 0o644)
    }

    /// Writes the file of the user's values.
    func store(_ text: String) throws {
        try FileManager.default.createDirectory(
            atPath: shelf.folder / "config/handlers", withIntermediateDirectories: true)
        try text.write(toFile: values, atomically: false, encoding: .utf8)
    }

    func read(languages: [String] = []) throws -> (settings: HandlerSettings, warnings: [String]) {
        var catalog = shelf.catalog()
        catalog.languages = languages
        let snapshot = catalog.load()
        return (try snapshot.bundle(named: "org.example.photos").settings, snapshot.reasons(.warning))
    }
}

@Suite("Settings of a handler")
struct HandlerSettingsTests {
    static var all: [[String: Any]] {
        [
            ["Type": "PSGroupSpecifier", "Title": "Import", "FooterText": "Applies to new photos."],
            ["Type": "PSToggleSwitchSpecifier", "Key": "copy", "Title": "Keep a copy", "DefaultValue": true],
            [
                "Type": "PSToggleSwitchSpecifier", "Key": "mode", "Title": "Mode", "TrueValue": "fast",
                "FalseValue": "good", "DefaultValue": "good",
            ],
            ["Type": "PSTextFieldSpecifier", "Key": "album", "Title": "Album", "DefaultValue": "Camera"],
            ["Type": "PSTextFieldSpecifier", "Key": "token", "Title": "Token", "IsSecure": true],
            [
                "Type": "PSSliderSpecifier", "Key": "quality", "Title": "Quality", "MinimumValue": 0, "MaximumValue": 1,
                "DefaultValue": 0.8,
            ],
            [
                "Type": "PSMultiValueSpecifier", "Key": "size", "Title": "Size", "Values": [0, 1, 2],
                "Titles": ["Small", "Medium", "Large"], "DefaultValue": 1,
            ],
            [
                "Type": "PSRadioGroupSpecifier", "Key": "sort", "Title": "Order", "Values": ["date", "name"],
                "Titles": ["By date", "By name"], "DefaultValue": "date",
            ],
            ["Type": "PSTitleValueSpecifier", "Key": "version", "Title": "Version", "DefaultValue": "1.2"],
            ["Type": "PSNewSpecifier", "Key": "new", "Title": "New", "DefaultValue": 7],
            ["Type": "PSOddSpecifier", "Title": "Odd"],
            ["Type": "PSChildPaneSpecifier", "Title": "Network", "File": "Net"],
        ]
    }

    /// All settings of one pane.
    static var flat: [[String: Any]] { all.dropLast() }

    @Test(
        "each type of specifier is read, from XML and binary files, and every key has its default",
        arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
    func types(format: PropertyListSerialization.PropertyListFormat) throws {
        let shelf = try SettingsShelf(Self.all, format: format)
        try shelf.write("Net", [["Type": "PSTextFieldSpecifier", "Key": "proxy"]], format: format)
        let (settings, warnings) = try shelf.read()
        #expect(warnings == [])
        #expect(
            settings.values == [
                "copy": .truth(true), "mode": .text("good"), "album": .text("Camera"), "token": .text(""),
                "quality": .real(0.8), "size": .integer(1), "sort": .text("date"), "version": .text("1.2"),
                "new": .integer(7), "proxy": .text(""),
            ])
        #expect(settings.all.map(\.key).suffix(2) == ["new", "proxy"])
        #expect(settings.rows.prefix(2) == [.heading("Import"), .note("Applies to new photos.")])
        #expect(
            settings.rows.suffix(3).dropLast() == [.unknown(type: "PSOddSpecifier", title: "Odd"), .heading("Network")])
        #expect(settings["token"]?.form == .text(isSecure: true))
        #expect(settings.all.filter { !$0.canChange }.map(\.key) == ["version", "new"])
    }

    @Test("a typed value is checked against its specifier")
    func typed() throws {
        let (settings, _) = try SettingsShelf(Self.all).read()
        func value(_ key: String, _ text: String) -> HandlerSettingValue? { settings[key]?.value(typed: text) }
        #expect(value("copy", "no") == .truth(false) && value("copy", "ON") == .truth(true))
        #expect(value("copy", "maybe") == nil)
        #expect(value("mode", "fast") == .text("fast") && value("mode", "off") == .text("good"))
        #expect(value("album", "a\nb") == .text("a\nb"))
        #expect(value("album", String(repeating: "a", count: 4_096)) != nil)
        #expect(value("album", String(repeating: "ü", count: 2_049)) == nil)
        #expect(value("quality", "1") == .integer(1) && value("quality", "0.5") == .real(0.5))
        #expect(value("quality", "1.0") == .integer(1), "a number has one form")
        for text in ["1.01", "-0.1", "nan", "inf", "", "0,5", "1e400"] {
            #expect(value("quality", text) == nil, "\(text)")
        }
        #expect(value("size", "2") == .integer(2) && value("size", "large") == .integer(2))
        #expect(value("size", "3") == nil)
        #expect(value("sort", "By name") == .text("name"))
        #expect(value("version", "1.2") == nil && value("new", "7") == nil)
    }

    @Test("titles are in the user's language, from the strings of their pane")
    func languages() throws {
        let shelf = try SettingsShelf(Self.all)
        let folder = shelf.bundle + "/Settings.bundle/de.lproj"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        shelf.write("de.lproj/Root.strings", Data(#""Quality" = "Güte"; "Large" = "Groß";"#.utf8))
        let (settings, _) = try shelf.read(languages: ["de", "en"])
        #expect(settings["quality"]?.title == "Güte")
        #expect(settings["size"]?.choices.map(\.title) == ["Small", "Medium", "Groß"])
    }

    @Test("a handler without a Settings.bundle has no settings and no warning; one without Root.plist has a warning")
    func none() throws {
        let shelf = Shelf()
        try shelf.write("Photos", Shelf.keys("org.example.photos"))
        let snapshot = shelf.catalog().load()
        #expect(snapshot.bundles[0].settings == .none)
        #expect(snapshot.problems == [])
        let empty = try SettingsShelf(nil).read()
        #expect(empty.settings == .none)
        #expect(empty.warnings == ["Settings.bundle/Root.plist is missing"])
    }

    // MARK: Hostile bundles

    @Test("a broken specifier is a warning with its place, and the others are used")
    func brokenSpecifiers() throws {
        let field: [String: Any] = ["Type": "PSTextFieldSpecifier", "Key": "good"]
        let broken: [([String: Any], String)] = [
            ([:], "has no Type"),
            (["Type": "PSTextFieldSpecifier"], "has no Key"),
            (
                ["Type": "PSTextFieldSpecifier", "Key": "a\u{1B}[2J"],
                "its Key is longer than 128 bytes, or cannot be shown"
            ),
            (
                ["Type": "PSTextFieldSpecifier", "Key": String(repeating: "k", count: 129)],
                "its Key is longer than 128 bytes, or cannot be shown"
            ),
            (field, "its Key is that of another setting"),
            (
                ["Type": "PSTextFieldSpecifier", "Key": "x", "DefaultValue": String(repeating: "v", count: 4_097)],
                "its DefaultValue should be text, a number or a truth, of at most 4096 bytes"
            ),
            (
                ["Type": "PSTextFieldSpecifier", "Key": "x", "DefaultValue": 5],
                "its DefaultValue should be text of at most 4096 bytes"
            ),
            (
                ["Type": "PSSliderSpecifier", "Key": "x", "MinimumValue": 2, "MaximumValue": 1],
                "its MinimumValue and MaximumValue should be numbers, in this order"
            ),
            (
                ["Type": "PSSliderSpecifier", "Key": "x", "MinimumValue": 0, "MaximumValue": 1, "DefaultValue": 2],
                "its DefaultValue should be a number, 0 to 1"
            ),
            (
                ["Type": "PSSliderSpecifier", "Key": "x", "MinimumValue": Double.nan, "MaximumValue": 1],
                "its MinimumValue should be text, a number or a truth, of at most 4096 bytes"
            ),
            (["Type": "PSMultiValueSpecifier", "Key": "x"], "has no Values"),
            (
                ["Type": "PSMultiValueSpecifier", "Key": "x", "Values": [1, 2], "Titles": ["one"]],
                "has 2 Values and 1 Titles"
            ),
            (
                ["Type": "PSMultiValueSpecifier", "Key": "x", "Values": Array(0...256)], "has more than 256 Values"
            ),
            (
                ["Type": "PSToggleSwitchSpecifier", "Key": "x", "TrueValue": 1, "FalseValue": 1],
                "its TrueValue and FalseValue are the same"
            ),
        ]
        for (keys, reason) in broken {
            let (settings, warnings) = try SettingsShelf([field, keys], format: .binary).read()
            #expect(settings.all.map(\.key) == ["good"])
            #expect(warnings == ["Settings.bundle/Root.plist, entry 2: " + reason])
        }
    }

    @Test(
        "a child pane outside the bundle is not read",
        arguments: ["../../Info", "/etc/passwd", "..", ".", "", "a/b", ".hidden", "a\u{0}b"])
    func paths(name: String) throws {
        let (settings, warnings) = try SettingsShelf([["Type": "PSChildPaneSpecifier", "File": name]], format: .binary)
            .read()
        #expect(settings.all.isEmpty)
        #expect(warnings.count == 1 && warnings[0].contains("its File should be the name of a file"), "\(warnings)")
    }

    @Test("a link, a pipe, a large file, a text or a list in place of a pane is a warning, and takes no setting away")
    func panes() throws {
        let root: [[String: Any]] = [
            ["Type": "PSTextFieldSpecifier", "Key": "good"], ["Type": "PSChildPaneSpecifier", "File": "Net"],
        ]
        let cases: [(reason: String, make: (String) throws -> Void)] = [
            ("is a symbolic link", { symlink("/etc/passwd", $0) }),
            ("is not a regular file", { mkfifo($0, 0o600) }),
            ("is larger than 256 KiB", { try Data(count: (256 << 10) + 1).write(to: URL(fileURLWithPath: $0)) }),
            (
                "is neither an XML nor a binary property list",
                { try Data("hello".utf8).write(to: URL(fileURLWithPath: $0)) }
            ),
            (
                "has no list PreferenceSpecifiers",
                {
                    let data = try PropertyListSerialization.data(fromPropertyList: ["a": 1], format: .xml, options: 0)
                    try data.write(to: URL(fileURLWithPath: $0))
                }
            ),
            ("is missing", { _ in }),
        ]
        for (reason, make) in cases {
            let shelf = try SettingsShelf(root)
            let path = shelf.bundle + "/Settings.bundle/Net.plist"
            try make(path)
            if reason != "is a symbolic link" { chmod(path, 0o644) }
            let (settings, warnings) = try shelf.read()
            #expect(settings.all.map(\.key) == ["good"])
            #expect(warnings == ["Settings.bundle/Net.plist " + reason])
        }
    }

    @Test("a Settings.bundle that is a link out of the bundle, or that anyone can write, is not read")
    func place() throws {
        let linked = try SettingsShelf(nil)
        rmdir(linked.bundle + "/Settings.bundle")
        let elsewhere = try SettingsShelf(Self.all)
        symlink(elsewhere.bundle + "/Settings.bundle", linked.bundle + "/Settings.bundle")
        #expect(try linked.read().warnings == ["Settings.bundle/Root.plist is outside the bundle"])
        let open = try SettingsShelf([["Type": "PSTextFieldSpecifier", "Key": "good"]])
        chmod(open.bundle + "/Settings.bundle/Root.plist", 0o646)
        let (settings, warnings) = try open.read()
        #expect(settings == .none)
        #expect(warnings.count == 1 && warnings[0].hasPrefix("everyone may write to Settings.bundle/Root.plist"))
    }

    @Test("panes that contain each other are read once, and too many of them end at the bounds")
    func cycles() throws {
        let shelf = try SettingsShelf([["Type": "PSChildPaneSpecifier", "File": "A"]])
        try shelf.write("A", [["Type": "PSChildPaneSpecifier", "File": "Root"]])
        #expect(try shelf.read().warnings == ["Settings.bundle/A.plist, entry 1: its File Root is a pane already"])
        let deep = try SettingsShelf([["Type": "PSChildPaneSpecifier", "File": "P1"]])
        for number in 1...9 {
            try deep.write("P\(number)", [["Type": "PSChildPaneSpecifier", "File": "P\(number + 1)"]])
        }
        #expect(
            try deep.read().warnings == ["Settings.bundle/P7.plist, entry 1: is left out: there are too many panes"])
        let wide = try SettingsShelf((1...40).map { ["Type": "PSChildPaneSpecifier", "File": "P\($0)"] })
        for number in 1...40 { try wide.write("P\(number)", []) }
        #expect(try wide.read().warnings.count == 9)
    }

    @Test("there are at most 128 settings and 512 rows")
    func bounds() throws {
        let fields = (1...130).map { ["Type": "PSTextFieldSpecifier", "Key": "k\($0)"] }
        let (settings, warnings) = try SettingsShelf(fields).read()
        #expect(settings.all.count == 128)
        #expect(
            warnings.first == "Settings.bundle/Root.plist, entry 129: is left out: there are 128 settings before it")
        let groups = Array(repeating: ["Type": "PSGroupSpecifier", "Title": "x"], count: 600)
        let many = try SettingsShelf(groups).read()
        #expect(many.settings.rows.count == 512)
        #expect(many.warnings == ["Settings.bundle has more than 512 rows"])
    }
}

@Suite("The values of a handler's settings")
struct HandlerSettingsFileTests {
    @Test("a value is stored for its user alone, is read again, and is removed for the default")
    func change() throws {
        let shelf = try SettingsShelf(HandlerSettingsTests.flat)
        let catalog = shelf.shelf.catalog()
        let bundle = try catalog.load().bundle(named: "Photos")
        let quality = try #require(bundle.settings["quality"])
        #expect(!bundle.settings.isSet(quality))
        try catalog.set(quality, of: bundle.identifier, to: .real(0.25))
        #expect(catalog.settingsPath(of: bundle.identifier) == shelf.values)
        var status = stat()
        #expect(stat(shelf.values, &status) == 0 && status.st_mode & 0o7777 == 0o600)
        let settings = try shelf.read().settings
        #expect(settings.isSet(quality) && settings.value(of: quality) == .real(0.25))
        try catalog.set(quality, of: bundle.identifier, to: nil)
        #expect(try shelf.read().settings.value(of: quality) == .real(0.8))
    }

    @Test("unknown keys and values that do not fit are passed over, and the others count")
    func unfit() throws {
        let shelf = try SettingsShelf(HandlerSettingsTests.flat)
        try shelf.store(
            #"""
            {"copy": 1, "album": "Trip", "quality": 7, "size": "2", "sort": "size", "version": "9", "new": 8,
             "token": ["a"], "mode": {"a": null}, "unknown": "kept"}
            """#)
        let (settings, warnings) = try shelf.read()
        #expect(warnings == [])
        #expect(settings.all.filter(settings.isSet).map(\.key) == ["album"])
        let catalog = shelf.shelf.catalog()
        let album = try #require(settings["album"])
        try catalog.set(album, of: try identifier("photos"), to: .text("Home"))
        #expect(try String(contentsOfFile: shelf.values, encoding: .utf8).contains(#""unknown" : "kept""#))
    }

    @Test(
        "a file that cannot be used is a warning, the defaults count, and a change sets it aside",
        arguments: ["[1]", "hello", "", "{\"a\":", String(repeating: "[", count: 100_000), #"{"a":"\#u{FF}"#])
    func damaged(text: String) throws {
        let shelf = try SettingsShelf(HandlerSettingsTests.flat)
        try shelf.store(text)
        let (settings, warnings) = try shelf.read()
        #expect(settings.value(of: try #require(settings["album"])) == .text("Camera"))
        #expect(warnings == ["\(shelf.values) is not a JSON object: the settings have their defaults"])
        try shelf.shelf.catalog().set(try #require(settings["album"]), of: try identifier("photos"), to: .text("x"))
        #expect(try shelf.read().warnings == [])
        let names = try FileManager.default.contentsOfDirectory(atPath: shelf.shelf.folder / "config/handlers")
        #expect(names.contains { $0.contains(".damaged-") })
    }

    @Test("a pipe, a link or a large file in its place is not read")
    func place() throws {
        for (reason, make) in [
            ("is a symbolic link", { symlink("/etc/passwd", $0) }), ("is not a regular file", { mkfifo($0, 0o600) }),
            ("is larger than 1024 KiB", { truncate($0, (1 << 20) + 1) }),
        ] as [(String, (String) -> Int32)] {
            let shelf = try SettingsShelf(HandlerSettingsTests.flat)
            try shelf.store("{}")
            if !reason.hasPrefix("is larger") { unlink(shelf.values) }
            #expect(make(shelf.values) == 0)
            #expect(try shelf.read().warnings == ["\(shelf.values) \(reason): the settings have their defaults"])
        }
    }

    @Test("a watch notices new values, a new pane and a new Settings.bundle")
    func watched() throws {
        let shelf = try SettingsShelf(nil)
        let watch = CatalogWatch(
            shelf.shelf.catalog(), listening: false, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        defer { watch.stop() }
        func values() throws -> [String: HandlerSettingValue] {
            try watch.current.bundle(named: "org.example.photos").settings.values
        }
        #expect(try values() == [:])
        try shelf.write(
            "Root", [["Type": "PSTextFieldSpecifier", "Key": "a"], ["Type": "PSChildPaneSpecifier", "File": "Net"]])
        #expect(try values() == ["a": .text("")])
        try shelf.write("Net", [["Type": "PSTextFieldSpecifier", "Key": "b"]])
        #expect(try values() == ["a": .text(""), "b": .text("")])
        try shelf.store(#"{"b": "x"}"#)
        #expect(try values() == ["a": .text(""), "b": .text("x")])
    }
}
