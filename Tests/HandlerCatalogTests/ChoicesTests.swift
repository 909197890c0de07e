import Foundation
import HandlerCatalog
import TestSupport
import Testing
import UniformTypes

@Suite("The user's choices")
struct ChoicesTests {
    private let shelf = Shelf()
    private var catalog: HandlerCatalog { shelf.catalog() }

    init() throws {
        try shelf.write("Photos", Shelf.opening("org.example.photos", "public.image"))
        try shelf.write("Notes", Shelf.opening("org.example.notes", "public.text"))
        try shelf.write(
            "Links", Shelf.keys("org.example.links", ["CFBundleURLTypes": [["CFBundleURLSchemes": ["x-l"]]]]))
    }

    private func text() throws -> String { try String(contentsOfFile: shelf.choices, encoding: .utf8) }

    private func first(_ text: String) throws -> String? {
        catalog.load().claimants(of: try type(text)).first?.bundle.name
    }

    @Test("a handler is disabled and enabled again by its name, its folder's or its identifier")
    func disableAndEnable() throws {
        for name in ["Photos", "photos", "Photos.handler", "org.example.photos", "ORG.example.Photos"] {
            #expect(try catalog.disable(name).identifier.text == "org.example.photos")
            #expect(try first("public.jpeg") == "Inbox")
            #expect(try catalog.enable(name).name == "Photos")
            #expect(try first("public.jpeg") == "Photos")
        }
    }

    @Test("a built-in handler cannot be disabled, nor can a missing one")
    func cannotDisable() throws {
        #expect(throws: CatalogError.self) { try catalog.disable("inbox") }
        do {
            try catalog.disable("nobody")
        } catch {
            #expect(error.code == .unknownHandler)
            #expect(error.description == "there is no handler nobody")
        }
        let near = #expect(throws: CatalogError.self) { try catalog.disable("Phots") }
        #expect(near?.description == "there is no handler Phots; did you mean Photos?")
        #expect(!FileManager.default.fileExists(atPath: shelf.choices))
    }

    @Test("a name that several handlers have is refused with their identifiers")
    func ambiguous() throws {
        try shelf.write("Other", Shelf.keys("org.example.other", ["CFBundleName": "Photos"]))
        try shelf.write("Third", Shelf.keys("org.example.third", ["CFBundleName": "PHOTOS"]))
        // The folder's name takes precedence.
        #expect(try catalog.load().bundle(named: "Photos").identifier.text == "org.example.photos")
        do {
            _ = try catalog.load().bundle(named: "photos")
            Issue.record("one was chosen")
        } catch {
            #expect(error.code == .ambiguousName)
            #expect(error.description.contains("org.example.photos") && error.description.contains("org.example.third"))
        }
    }

    @Test("a default is set for a type that the handler opens, and removed")
    func defaults() throws {
        try shelf.write("Old", Shelf.opening("org.example.a", "public.image"))
        #expect(try first("public.jpeg") == "Photos")
        try catalog.setDefault("Old", for: .image)
        #expect(try first("public.jpeg") == "Old")
        #expect(try catalog.removeDefault(for: .jpeg) == nil)
        #expect(try catalog.removeDefault(for: .image)?.text == "org.example.a")
        #expect(try first("public.jpeg") == "Photos")
        try catalog.setDefault("Inbox", for: .jpeg)
        #expect(try first("public.jpeg") == "Inbox")
        #expect(try first("public.png") == "Photos")
    }

    @Test("a default for a type that the handler does not open, or for a disabled handler, is refused")
    func refusedDefaults() throws {
        func message(_ body: () throws -> Void) -> String {
            do {
                try body()
                return "taken"
            } catch { return "\(error)" }
        }
        #expect(message { try catalog.setDefault("Notes", for: .image) } == "Notes does not open public.image")
        try catalog.disable("Notes")
        #expect(message { try catalog.setDefault("Notes", for: .text) } == "Notes is disabled; enable it first")
        let scheme = try #require(URLScheme("x-l"))
        #expect(message { try catalog.setDefault("Photos", for: scheme) } == "Photos does not open x-l: URLs")
        let http = try #require(URLScheme("http"))
        #expect(
            message { try catalog.setDefault("Links", for: http) }
                == "http: is built in; no handler can be the default for it")
    }

    @Test("a default for a scheme is set and removed")
    func schemeDefaults() throws {
        let scheme = try #require(URLScheme("x-l"))
        try shelf.write("More", Shelf.keys("org.example.more", ["CFBundleURLTypes": [["CFBundleURLSchemes": ["x-l"]]]]))
        func names() -> [String] {
            guard case .handlers(let claims) = catalog.load().schemeHandlers(for: scheme) else { return [] }
            return claims.map(\.bundle.name)
        }
        let before = names()
        try catalog.setDefault(try #require(before.last), for: scheme)
        #expect(names() == before.reversed())
        #expect(try catalog.removeDefault(for: scheme) != nil)
        #expect(try catalog.removeDefault(for: scheme) == nil)
        #expect(names() == before)
    }

    @Test("a default whose handler is gone or disabled is reported")
    func idleDefaults() throws {
        try catalog.setDefault("Photos", for: .image)
        try catalog.setDefault("Notes", for: .text)
        try catalog.disable("Notes")
        try FileManager.default.removeItem(atPath: shelf.user + "/Photos.handler")
        #expect(
            Set(catalog.load().reasons(.warning)) == [
                "your default for public.image, org.example.photos, is not installed",
                "your default for public.text, org.example.notes, is disabled",
            ])
    }

    @Test("the file is readable JSON, private to the user, and keeps unknown fields")
    func form() throws {
        let before = #"{"future": {"a": [1, null]}, "version": 7, "disabled": []}"#
        try Data(before.utf8).write(to: URL(fileURLWithPath: shelf.choices))
        try catalog.setDefault("Photos", for: try type("Public.JPEG"))
        try catalog.disable("Notes")
        #expect(
            try text() == """
                {
                  "defaults" : {
                    "Public.JPEG" : "org.example.photos"
                  },
                  "disabled" : [
                    "org.example.notes"
                  ],
                  "future" : {
                    "a" : [
                      1,
                      null
                    ]
                  },
                  "schemes" : {

                  },
                  "version" : 7
                }

                """)
        var status = stat()
        #expect(stat(shelf.choices, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: shelf.folder / "config") == ["handlers.json"])
    }

    @Test("the folder for the file is made if it is missing")
    func missingFolder() throws {
        try FileManager.default.removeItem(atPath: shelf.folder / "config")
        try catalog.disable("Notes")
        #expect(catalog.load().choices.disabled == [try identifier("notes")])
    }

    @Test("unknown entries in the file are ignored with a message")
    func tolerant() throws {
        let json = """
            {"disabled": ["org.example.notes", 5, "not an identifier", null],
             "defaults": {"public.image": "org.example.photos", "no type!": "a.b", "public.text": 5, "PUBLIC.image": "z.z"},
             "schemes": ["x"]}
            """
        try Data(json.utf8).write(to: URL(fileURLWithPath: shelf.choices))
        let snapshot = catalog.load()
        #expect(snapshot.choices.disabled == [try identifier("notes")])
        #expect(snapshot.choices.typeDefaults.count == 1)
        let warnings = snapshot.problems.filter { $0.name == "handlers.json" }.map(\.reason)
        #expect(warnings.contains("\"disabled\" in it has an entry that is not a handler's identifier"))
        #expect(warnings.contains("\"no type!\" under \"defaults\" is not a uniform type with a handler's identifier"))
        #expect(
            warnings.contains("\"public.text\" under \"defaults\" is not a uniform type with a handler's identifier"))
        #expect(warnings.contains("\"schemes\" in it should be an object: a URL scheme to a handler's identifier"))
    }

    @Test("a file that is no JSON object counts as none, and is moved aside when something is chosen")
    func damaged() throws {
        for (number, damage) in ["{", "[]", "5", "\u{0}\u{1}", String(repeating: "[", count: 100_000)].enumerated() {
            try Data(damage.utf8).write(to: URL(fileURLWithPath: shelf.choices))
            #expect(catalog.load().reasons(.warning) == ["it cannot be used: it is not a JSON object"])
            #expect(catalog.load().choices == UserChoices())
            try catalog.disable("Notes")
            #expect(catalog.load().reasons(.warning) == [])
            let aside = shelf.choices + ".damaged" + (number == 0 ? "" : "-\(number)")
            #expect(try String(contentsOfFile: aside, encoding: .utf8) == damage)
        }
    }

    @Test("a file that is too large, a link or a pipe is not read")
    func notAFile() throws {
        truncate(shelf.choices, 0)
        #expect(FileManager.default.createFile(atPath: shelf.choices, contents: nil))
        truncate(shelf.choices, 8 << 30)
        #expect(catalog.load().reasons(.warning) == ["it cannot be used: it is larger than 1024 KiB"])
        unlink(shelf.choices)
        mkfifo(shelf.choices, 0o600)
        #expect(catalog.load().reasons(.warning) == ["it cannot be used: it is not a regular file"])
        unlink(shelf.choices)
        symlink("/dev/zero", shelf.choices)
        #expect(catalog.load().reasons(.warning) == ["it cannot be used: it is not a regular file"])
    }

    @Test("choices that are made at the same time are all kept")
    func atTheSameTime() async throws {
        for number in 0..<20 { try shelf.write("H\(number)", Shelf.keys("org.example.h\(number)")) }
        let catalog = catalog
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 { group.addTask { try catalog.disable("H\(number)") } }
            try await group.waitForAll()
        }
        #expect(catalog.load().choices.disabled.count == 20)
    }

    @Test("if the file cannot be written, the reason is reported, and the old file stays")
    func cannotWrite() throws {
        try FileManager.default.removeItem(atPath: shelf.folder / "config")
        #expect(FileManager.default.createFile(atPath: shelf.folder / "config", contents: nil))
        do {
            try catalog.disable("Notes")
            Issue.record("it was written")
        } catch {
            #expect(error.code == .storage)
            #expect(error.description == "\(shelf.choices) could not be written: Not a directory")
        }
    }
}
