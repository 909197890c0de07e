import Foundation
import HandlerCatalog
import HookSandbox
import Lines
import TestSupport
import Testing

@testable import CommandLine

@Suite("waft handlers list and show")
struct HandlersListTests {
    @Test("each handler has its name, its state, its types and its place, and the Inbox comes last")
    func transcript() async throws {
        let shelf = HandlerShelf(hook: "on-arrival")
        _ = try await shelf.run(
            "add", "--name", "Photos", "--type", "public.image", "--scheme", "photo", "--run", shelf.program)
        try shelf.write("Printer", HandlerShelf.keys("org.example.printer", ["com.adobe.pdf"]), in: shelf.machine)
        _ = try await shelf.run("disable", "printer")
        #expect(
            try await shelf.run().results == [
                "Photos  org.waft.local.photos  enabled",
                "  opens  public.image, photo: URLs",
                "  from   \(shelf.user)/Photos.handler (yours)",
                "Printer  org.example.printer  disabled",
                "  opens  com.adobe.pdf",
                "  from   \(shelf.machine)/Printer.handler (this machine's)",
                "hook  org.waft.hook  enabled",
                "  opens  items that no installed handler opens",
                "  from   hook: in the configuration, \(shelf.folder.path)/on-arrival",
                "Inbox  org.waft.inbox  enabled",
                "  opens  everything else: it keeps it in the Inbox",
                "  from   built in",
            ])
        #expect(try await shelf.run("list").results == shelf.run().results)
    }

    @Test("names are in the user's language in list, show and test; in JSON they stand beside the plain ones")
    func localized() async throws {
        let shelf = HandlerShelf()
        let bundle = try shelf.write(
            "Photos",
            HandlerShelf.keys(
                "org.example.photos", [],
                [
                    "CFBundleName": "Photos",
                    "CFBundleDocumentTypes": [["CFBundleTypeName": "Photo", "LSItemContentTypes": ["public.image"]]],
                    "CFBundleURLTypes": [["CFBundleURLName": "Photo link", "CFBundleURLSchemes": ["photo"]]],
                ]))
        try FileManager.default.createDirectory(atPath: bundle + "/de.lproj", withIntermediateDirectories: true)
        try #"CFBundleName = Fotos; Photo = "Foto\U001b"; "Photo link" = "Foto-Verweis";"#
            .write(toFile: bundle + "/de.lproj/InfoPlist.strings", atomically: false, encoding: .utf8)
        func german(_ words: String...) async throws -> HandlersReport {
            try await shelf.run(words, languages: ["de", "en"])
        }
        #expect(try await german("list").text.hasPrefix("Fotos  org.example.photos  enabled\n"))
        let shown = try await german("show", "fotos").text
        #expect(shown.hasPrefix("Fotos\n") && shown.contains("photo:  role Viewer, \"Foto-Verweis\""), "\(shown)")
        #expect(shown.contains(", \"Photo\"") && !shown.contains("Foto\u{1B}"), "what cannot be shown is not")
        #expect(try await german("test", "--type", "public.png").text.contains("  Fotos gets it"))
        let document = try #require(try await german("show", "--json", "Photos").documents.first)
        #expect(document["name"] as? String == "Photos" && document["localizedName"] as? String == "Fotos")
        let scheme = try #require((document["urlTypes"] as? [[String: Any]])?.first)
        #expect(scheme["name"] as? String == "Photo link" && scheme["localizedName"] as? String == "Foto-Verweis")
        #expect(try await shelf.run("list").text.hasPrefix("Photos  org.example.photos  enabled\n"))
        try "CFBundleName".write(toFile: bundle + "/de.lproj/InfoPlist.strings", atomically: false, encoding: .utf8)
        #expect(try await german("list").text.contains("\n  warning: de.lproj/InfoPlist.strings is not a well-formed"))
    }

    @Test("with nothing installed it says how to install something, and not on standard output")
    func empty() async throws {
        let report = try await HandlerShelf().run()
        #expect(report.results.count == 3)
        #expect(report.notes.first?.contains("waft handlers add") == true)
        #expect(report.exit == .done)
    }

    @Test("an unusable bundle is listed with the reason and the next step, and does not affect others")
    func broken() async throws {
        let shelf = HandlerShelf()
        try await shelf.add("Good", "public.image")
        try shelf.write("No Info", nil)
        let odd = try shelf.write("Odd", nil, in: shelf.distribution)
        try Data("<plist>".utf8).write(to: URL(fileURLWithPath: odd + "/Info.plist"))
        let report = try await shelf.run()
        #expect(report.exit == .done)
        #expect(report.text.contains("Good  org.waft.local.good  enabled"))
        #expect(report.text.contains("No Info  cannot be used\n  why    it has no Info.plist"))
        #expect(report.text.contains("to do  fix it, or remove it: waft handlers remove 'No Info'"))
        #expect(report.text.contains("Odd  cannot be used\n  why    its Info.plist is not a well-formed property list"))
        #expect(report.text.contains("to do  ask the administrator of this machine to fix it"))
    }

    @Test("a folder that is no folder is a problem, not a failure")
    func unreadable() async throws {
        let shelf = HandlerShelf()
        try FileManager.default.removeItem(atPath: shelf.machine)
        _ = FileManager.default.createFile(atPath: shelf.machine, contents: Data())
        try FileManager.default.createDirectory(atPath: shelf.choices, withIntermediateDirectories: true)
        let report = try await shelf.run()
        #expect(report.text.contains("handlers  warning\n  why    it cannot be read: Not a directory"))
        #expect(report.text.contains("handlers.json  warning\n  why    it cannot be used: it is not a regular file"))
        #expect(report.text.contains("Inbox  org.waft.inbox"))
    }

    @Test("a hook that is not there is a problem")
    func missingHook() async throws {
        let shelf = HandlerShelf(hook: "on-arrival")
        try FileManager.default.removeItem(atPath: shelf.folder / "on-arrival")
        let text = try await shelf.run().text
        #expect(text.contains("hook  org.waft.hook  cannot be used\n  why    the hook of the configuration is missing"))
        #expect(text.contains("to do  fix it, or change hook: in the configuration"))
        #expect(try await shelf.run("show", "hook").text.contains("is missing"))
    }

    @Test("a condition that prevents a handler from being started is a warning")
    func launchTroubles() async throws {
        let shelf = HandlerShelf()
        try shelf.write(
            "A",
            HandlerShelf.keys("org.example.a", ["public.image"], ["WaftReadablePaths": [shelf.folder / "away"]]))
        try shelf.write(
            "B", HandlerShelf.keys("org.example.b", ["public.image"], ["WaftWritablePaths": ["/not/there"]]))
        try shelf.write(
            "C",
            HandlerShelf.keys(
                "org.example.c", ["public.image"], ["WaftWritablePaths": ["/not/there"], "WaftSandbox": "none"]))
        let lines = try await shelf.run().results.filter { $0.contains("warning") }
        #expect(lines.count == 2)
        #expect(
            lines.first?.contains("it cannot start: \(shelf.folder.path)/away, which it may read, does not exist")
                == true)
        #expect(lines.last?.contains("it cannot start: /not/there") == true)
    }

    @Test("with eligibility: handlers the Inbox takes nothing")
    func rule() async throws {
        let text = try await HandlerShelf(rule: .handlers).run().text
        #expect(text.contains("Inbox  org.waft.inbox  disabled\n  opens  nothing: eligibility: handlers is set"))
    }

    @Test("nothing that bundles say reaches the terminal as it is")
    func hostile() async throws {
        let shelf = HandlerShelf()
        let esc = "\u{1B}[2J\u{202E}"
        try shelf.write("a" + esc, nil)
        try shelf.write("b", HandlerShelf.keys("org.example.b", [], ["CFBundleName": "x" + esc]))
        try shelf.write(
            "c",
            HandlerShelf.keys(
                "org.example.c", [],
                [
                    "CFBundleDocumentTypes": [
                        ["CFBundleTypeName": "n" + esc, "CFBundleTypeExtensions": ["e" + esc, "ok"]],
                        ["CFBundleTypeMIMETypes": ["x/y" + esc]], ["LSItemContentTypes": ["public" + esc]],
                    ],
                    "UTExportedTypeDeclarations": [
                        ["UTTypeIdentifier": "org.example.t", "UTTypeDescription": "d" + esc]
                    ],
                    "Waft" + esc: 1, "WaftWritablePaths": ["/" + esc],
                ]))
        try shelf.write("d", HandlerShelf.keys("org.example.d" + esc))
        try FileManager.default.createDirectory(
            atPath: shelf.folder / "config", withIntermediateDirectories: true)
        try Data(#"{"defaults": {"\u001b[2J": "x"}, "disabled": ["\u001b"]}"#.utf8)
            .write(to: URL(fileURLWithPath: shelf.choices))
        for words in [
            ["list"], ["list", "--json"], ["show", "c"], ["show", "c", "--json"], ["test", "--type", "org.x.y"],
        ] {
            let report = try await shelf.run(words)
            #expect(report.isPrintable, "\(words)")
            #expect(!report.text.unicodeScalars.contains("\u{202E}") || words.last == "--json")
            #expect(!report.results.isEmpty)
        }
        // The output suggests no command for a name that cannot be typed.
        #expect(try await shelf.run().text.contains("fix it, or delete its folder"))
    }

    @Test("each handler and each problem is one JSON document")
    func json() async throws {
        let shelf = HandlerShelf()
        try await shelf.add("Photos", "public.image")
        _ = try await shelf.run("default", "public.jpeg", "Photos")
        try shelf.write("Odd", nil)
        let documents = try await shelf.run("--json").documents
        #expect(documents.count == 3)
        #expect(documents.allSatisfy { $0["v"] as? Int == 1 })
        #expect(documents.map { $0["event"] as? String } == ["handler", "handler", "problem"])
        #expect(documents[0]["identifier"] as? String == "org.waft.local.photos")
        #expect(documents[0]["defaultTypes"] as? [String] == ["public.jpeg"])
        #expect(documents[0]["enabled"] as? Bool == true)
        #expect(documents[1]["origin"] as? String == "builtIn")
        #expect(documents[2]["severity"] as? String == "unusable")
        #expect(documents[2]["reason"] as? String == "it has no Info.plist")
        #expect(try await shelf.run("show", "photos", "--json").results == [shelf.run("--json").results[0]])
    }

    @Test("show tells all there is to one handler")
    func show() async throws {
        let shelf = HandlerShelf()
        let keys = HandlerShelf.keys(
            "org.example.raw", [],
            [
                "CFBundleName": "Raw",
                "CFBundleDocumentTypes": [
                    [
                        "LSItemContentTypes": ["org.example.rw2"], "LSHandlerRank": "Owner",
                        "CFBundleTypeRole": "Editor",
                        "CFBundleTypeName": "Raw photo",
                    ], ["CFBundleTypeExtensions": ["zzz"], "LSHandlerRank": "None"],
                ],
                "CFBundleURLTypes": [["CFBundleURLSchemes": ["raw"]]],
                "UTExportedTypeDeclarations": [
                    [
                        "UTTypeIdentifier": "org.example.rw2", "UTTypeConformsTo": ["public.image"],
                        "UTTypeDescription": "Raw photo",
                        "UTTypeTagSpecification": ["public.filename-extension": ["rw2x"]],
                    ]
                ],
                "WaftLaunch": "resident", "WaftLaunchCalls": ["will-finish-launching"], "WaftTimeout": 1.5,
                "CFBundleVersion": "2.1", "WaftReadablePaths": ["/etc"],
                "WaftWritablePaths": [shelf.folder / "import.d"], "WaftNetwork": true,
            ])
        try shelf.write("Raw", keys)
        mkdir(shelf.folder / "import.d", 0o700)
        _ = try await shelf.run("default", "raw:", "Raw")
        let lines = try await shelf.run("show", "raw").results.filter { !$0.contains("installed") }
        #expect(
            lines == [
                "Raw",
                "  identifier    org.example.raw",
                "  state         enabled",
                "  folder        \(shelf.user)/Raw.handler (yours)",
                "  runs          \(shelf.user)/Raw.handler/run",
                "  version       2.1",
                "  data folder   \(shelf.folder.path)/user/handler-data/org.example.raw",
                "  opens         org.example.rw2  rank Owner, role Editor, \"Raw photo\"",
                "                .zzz files  rank None, role Viewer: is not asked to open them",
                "  opens URLs    raw:  role Viewer",
                "  default for   raw:",
                "  started       resident: once; it keeps running and reads one item a line",
                "  asked first   will-finish-launching",
                "  time limit    1.5 s",
                "  sandbox       strict: it may do only this:",
                "  reads         the system's folders, its bundle, the Inbox, and the folders it writes to",
                "                /etc",
                "  writes        its data folder \(shelf.folder.path)/user/handler-data/org.example.raw",
                "                a temporary folder for each call",
                "                \(shelf.folder.path)/import.d",
                "  Inbox         deletes items and moves them out; changes none",
                "  network       yes",
                "  sockets       no",
                "  signals       only to its own processes",
                "  kernel        \(HookSandbox.Support(landlock: .abi(6), filter: .asking))",
                "  exports       org.example.rw2  \"Raw photo\"; conforms to public.image; .rw2x",
            ])
    }

    @Test("show knows the hook, the Inbox and bundles that cannot be used, and says where to look for others")
    func showOthers() async throws {
        let shelf = HandlerShelf(hook: "on-arrival")
        try shelf.write("Odd", nil)
        #expect(try await shelf.run("show", "hook").text.contains("time limit    9 s"))
        #expect(try await shelf.run("show", "INBOX").text.contains("it is built in"))
        #expect(try await shelf.run("show", "odd.handler").text.contains("it has no Info.plist"))
        let failure = await shelf.failure("show", "nobody")
        #expect(failure == (66, "there is no handler nobody", "see: waft handlers"))
        for word in ["", "../x", "a\u{1B}b", String(repeating: "x", count: 100_000)] {
            let failure = await shelf.failure("show", word)
            #expect(failure.exit == 66)
            #expect(!failure.message.contains("\u{1B}"))
            #expect(failure.message.count <= 4_200)
        }
    }

    @Test("ten thousand bundles are listed up to the limit of a folder, and the rest is mentioned")
    func many() async throws {
        let shelf = HandlerShelf()
        let keys = HandlerShelf.keys("org.example.x", ["public.image"])
        try shelf.write("a", keys)
        for number in 0..<10_000 {
            let path = "\(shelf.user)/b\(number).handler"
            mkdir(path, 0o755)
        }
        let report = try await shelf.run()
        #expect(report.text.contains("there are more than 1000 bundles in it; the rest is left out"))
        #expect(report.results.count { $0.hasSuffix("cannot be used") } == 999)
        #expect(report.text.contains("a  org.example.x  enabled"))
    }
}
