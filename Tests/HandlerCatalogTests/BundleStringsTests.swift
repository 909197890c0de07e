import Foundation
import TestSupport
import Testing

@testable import HandlerCatalog

@Suite("Names of a bundle in the user's language")
struct BundleStringsTests {
    private static let german = """
        /* Names, in German. */
        "CFBundleName" = "Aufgaben";  // as the Finder shows it
        "To-do link" = "Aufgaben\\U2010Link"; Photo = 'Foto';

        """

    private static func utf16(_ text: String, bigEndian: Bool) -> [UInt8] {
        ("\u{FEFF}" + text).utf16.flatMap { unit in
            let bytes = [UInt8(unit >> 8), UInt8(unit & 0xFF)]
            return bigEndian ? bytes : bytes.reversed()
        }
    }

    private static func list(_ format: PropertyListSerialization.PropertyListFormat) throws -> [UInt8] {
        let keys = ["CFBundleName": "Aufgaben", "To-do link": "Aufgaben\u{2010}Link", "Photo": "Foto"]
        return try Array(PropertyListSerialization.data(fromPropertyList: keys, format: format, options: 0))
    }

    /// A bundle with a name, a document type, a scheme, and more files.
    private func bundle(
        _ files: [String: [UInt8]], languages: [String]
    ) throws -> (bundle: HandlerBundle, warnings: [String]) {
        let shelf = Shelf()
        let path = try shelf.write(
            "ToDo",
            Shelf.keys(
                "org.example.todo",
                [
                    "CFBundleName": "To-Do",
                    "CFBundleDocumentTypes": [["CFBundleTypeName": "Photo", "LSItemContentTypes": ["public.image"]]],
                    "CFBundleURLTypes": [["CFBundleURLName": "To-do link", "CFBundleURLSchemes": ["todolist"]]],
                ]))
        for (name, bytes) in files {
            let file = URL(fileURLWithPath: path + "/" + name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(bytes).write(to: file)
            chmod(file.path, 0o644)
        }
        var catalog = shelf.catalog()
        catalog.languages = languages
        let snapshot = catalog.load()
        return (try snapshot.bundle(named: "org.example.todo"), snapshot.reasons(.warning))
    }

    @Test("are read from text, XML and binary files", arguments: 0..<5)
    func forms(form: Int) throws {
        let bytes =
            switch form {
            case 0: Array(Self.german.utf8)
            case 1: Self.utf16(Self.german, bigEndian: false)
            case 2: Self.utf16("{" + Self.german + "}", bigEndian: true)
            case 3: try Self.list(.xml)
            default: try Self.list(.binary)
            }
        let (bundle, warnings) = try bundle(["de.lproj/InfoPlist.strings": bytes], languages: ["de_AT", "de", "en"])
        #expect(warnings == [])
        #expect(bundle.name == "To-Do" && bundle.shownName == "Aufgaben")
        #expect(bundle.localized(bundle.documentTypes.first?.name) == "Foto")
        #expect(bundle.localized(bundle.urlTypes.first?.name) == "Aufgaben\u{2010}Link")
        #expect(bundle.localized("Movie") == nil)
    }

    @Test("come from the first language that has them, then from English, or are what Info.plist says")
    func languages() throws {
        let files: [String: [UInt8]] = [
            "de.lproj/InfoPlist.strings": Array(Self.german.utf8),
            "de_AT.lproj/InfoPlist.strings": Array("Photo = Lichtbild;".utf8),
            "en.lproj/InfoPlist.strings": Array("CFBundleName = \"Things To Do\";".utf8),
        ]
        let austrian = try bundle(files, languages: ["de_AT", "de", "en"]).bundle
        #expect(austrian.shownName == "Aufgaben" && austrian.localized("Photo") == "Lichtbild")
        let french = try bundle(files, languages: ["fr", "en"]).bundle
        #expect(french.shownName == "Things To Do" && french.localized("Photo") == nil)
        #expect(try bundle(files, languages: []).bundle.shownName == "To-Do")
    }

    @Test("from a file that is broken are a line each, and the bundle is used with its plain names")
    func broken() throws {
        let broken: [(text: String, reason: String)] = [
            ("CFBundleName = Aufgaben", "line 1: a semicolon is missing"),
            ("\n\"a = b;", "line 2: a text has no closing quote"),
            ("/* /", "line 1: a comment has no end"),
            ("a = (b, c);", "line 1: something else is where a text should be"),
            ("a = ", "line 1: it ends where a text should be"), ("{a = b;", "line 1: the closing brace is missing"),
            ("{}}", "line 1: there is more after the closing brace"),
            ("\"\\Uzz\" = b;", "line 1: an escape has no digits"),
            ("\"\\Ud800\" = b;", "line 1: a text is not Unicode"),
            ("\"\\377\" = b;", "line 1: an octal escape is not ASCII"),
            (String(repeating: "(", count: 60_000), "line 1: something else is where a text should be"),
        ]
        for (text, reason) in broken {
            let (bundle, warnings) = try bundle(["de.lproj/InfoPlist.strings": Array(text.utf8)], languages: ["de"])
            #expect(bundle.shownName == "To-Do")
            #expect(
                warnings == ["de.lproj/InfoPlist.strings is not a well-formed property list: \(reason)"],
                "\(text.prefix(20))")
        }
        let others: [([UInt8], String)] = [
            ([0x66, 0xFC, 0x72], "neither UTF-8 nor UTF-16"), ([0xFF, 0xFE, 0x20], "cut short"),
            ([UInt8](repeating: 0x20, count: (64 << 10) + 1), "is larger than 64 KiB"),
            (Array("<plist><array/></plist>".utf8), "is not a dictionary of keys"), (Array("<plist".utf8), "line 1"),
            (Array("bplist00".utf8), "it is cut short"),
        ]
        for (bytes, reason) in others {
            let warnings = try bundle(["de.lproj/InfoPlist.strings": bytes], languages: ["de"]).warnings
            #expect(warnings.count == 1 && warnings[0].contains(reason), "\(warnings)")
        }
        let unfit = try bundle(
            ["de.lproj/InfoPlist.strings": Array("CFBundleName = \"a\\nb\";".utf8)], languages: ["de"])
        #expect(unfit.bundle.shownName == "To-Do")
        #expect(unfit.warnings == ["the translation of CFBundleName cannot be shown"])
    }

    @Test("are not read through a link that leads out of the bundle, nor from a file that everyone may write to")
    func outside() throws {
        let shelf = Shelf()
        let path = try shelf.write("A", Shelf.keys("org.example.a"))
        mkdir(shelf.folder / "elsewhere", 0o755)
        shelf.folder.file("elsewhere/InfoPlist.strings", "CFBundleName = B;")
        symlink(shelf.folder / "elsewhere", path + "/de.lproj")
        mkdir(path + "/en.lproj", 0o755)
        try "CFBundleName = C;".write(toFile: path + "/en.lproj/InfoPlist.strings", atomically: false, encoding: .utf8)
        chmod(path + "/en.lproj/InfoPlist.strings", 0o666)
        mkdir(path + "/fr.lproj", 0o755)
        mkfifo(path + "/fr.lproj/InfoPlist.strings", 0o644)
        var catalog = shelf.catalog()
        catalog.languages = ["de", "fr", "en"]
        let snapshot = catalog.load()
        #expect(snapshot.bundles.map(\.shownName) == ["A"])
        let warnings = snapshot.reasons(.warning)
        #expect(warnings.count == 3, "\(warnings)")
        #expect(warnings.contains("de.lproj/InfoPlist.strings is outside the bundle"))
        #expect(warnings.contains("fr.lproj/InfoPlist.strings is not a regular file"))
        #expect(warnings.contains { $0.hasPrefix("everyone may write to en.lproj/InfoPlist.strings") })
    }

    @Test(
        "are looked for in the languages of the environment, and no path can be made of them",
        arguments: [
            ([:], ["en"]), (["LANG": "C.UTF-8", "LANGUAGE": "de"], ["en"]), (["LANG": "POSIX"], ["en"]),
            (["LANG": "de_AT.UTF-8"], ["de_AT", "de-AT", "de", "en"]), (["LANG": "fr@euro"], ["fr", "en"]),
            (["LANG": "de_DE", "LC_MESSAGES": "fr_FR", "LC_ALL": ""], ["fr_FR", "fr-FR", "fr", "en"]),
            (["LANG": "en_GB.UTF-8"], ["en_GB", "en-GB", "en"]),
            (["LANG": "de", "LC_ALL": "nl", "LANGUAGE": "pt_BR:../x:es"], ["pt_BR", "pt-BR", "pt", "es", "nl", "en"]),
            (["LANG": "../../etc"], ["en"]), (["LANG": "de_../.."], ["de", "en"]), (["LANG": "dé"], ["en"]),
        ] as [([String: String], [String])]
    )
    func environment(variables: [String: String], names: [String]) {
        #expect(UserLanguages.names(variables) == names)
    }
}
