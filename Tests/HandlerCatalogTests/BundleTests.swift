import Foundation
import HandlerCatalog
import Sharing
import SystemCalls
import TestSupport
import Testing
import UniformTypes

@Suite("Bundles")
struct BundleTests {
    private let shelf = Shelf()

    private func only() throws -> HandlerBundle {
        let snapshot = shelf.catalog().load()
        #expect(snapshot.reasons(.unusable) == [])
        return try #require(snapshot.bundles.first)
    }

    private func refusal(_ keys: [String: Any]) throws -> String {
        let path = try shelf.write("Broken", keys)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let snapshot = shelf.catalog().load()
        #expect(snapshot.bundles.isEmpty)
        return try #require(snapshot.problems.first { $0.severity == .unusable }).reason
    }

    @Test("everything that a bundle says is read, from XML and from a binary property list", arguments: [true, false])
    func everything(isBinary: Bool) throws {
        let keys = Shelf.keys(
            "org.example.Photos",
            [
                "CFBundleName": "Photo Importer",
                "CFBundleDocumentTypes": [
                    [
                        "CFBundleTypeName": "Picture", "LSItemContentTypes": ["public.image", "org.example.raw"],
                        "LSHandlerRank": "Owner", "CFBundleTypeRole": "Editor",
                    ],
                    ["LSItemContentTypes": "public.movie"],
                ] as [[String: Any]],
                "CFBundleURLTypes": [
                    ["CFBundleURLName": "org.example.url", "CFBundleURLSchemes": ["X-Photos", "photos"]]
                        as [String: Any]
                ],
                "UTExportedTypeDeclarations": [
                    [
                        "UTTypeIdentifier": "org.example.raw", "UTTypeConformsTo": ["public.image"],
                        "UTTypeDescription": "raw picture",
                        "UTTypeTagSpecification": [
                            "public.filename-extension": ["exraw", ".exr2"], "public.mime-type": "image/x-example",
                        ] as [String: Any],
                    ] as [String: Any]
                ],
                "UTImportedTypeDeclarations": [
                    ["UTTypeIdentifier": "com.other.thing", "UTTypeConformsTo": "public.data"]
                ],
                "CFBundleVersion": "1.4b2",
                "WaftLaunch": "resident", "WaftSandbox": "none",
                "WaftLaunchCalls": ["will-finish-launching", "first-launch"],
                "WaftReadablePaths": "~/albums.txt", "WaftWritablePaths": ["/srv/photos", "~/Pictures", "~"],
                "WaftNetwork": true, "WaftSockets": true, "WaftTimeout": 2.5,
                "WaftEnvironment": ["HTTPS_PROXY", "_x1"],
            ]
        )
        let path = try shelf.write("Photos", keys, format: isBinary ? .binary : .xml)
        let bundle = try only()
        #expect(bundle.identifier.text == "org.example.Photos")
        #expect(bundle.name == "Photo Importer")
        #expect(bundle.folderName == "Photos")
        #expect(bundle.path == path)
        #expect(bundle.version == "1.4b2")
        #expect(bundle.dataFolder == shelf.folder / "user/handler-data/org.example.Photos")
        #expect(bundle.origin == .user)
        #expect(bundle.executable == path + "/run")
        #expect(
            bundle.documentTypes == [
                DocumentType(
                    name: "Picture",
                    contents: .types([try type("public.image"), try type("org.example.raw")]),
                    rank: .owner,
                    role: .editor
                ),
                DocumentType(contents: .types([try type("public.movie")]), rank: .default, role: .viewer),
            ])
        let schemes = try ["x-photos", "photos"].map { try #require(URLScheme($0)) }
        #expect(bundle.urlTypes == [URLType(name: "org.example.url", schemes: schemes)])
        #expect(
            bundle.exportedTypes == [
                TypeDeclaration(
                    try type("org.example.raw"),
                    parents: [try type("public.image")],
                    extensions: ["exraw", "exr2"],
                    mimeTypes: ["image/x-example"],
                    description: "raw picture"
                )
            ])
        #expect(bundle.importedTypes == [TypeDeclaration(try type("com.other.thing"), parents: [.data])])
        #expect(
            bundle.launch
                == LaunchRules(
                    mode: .resident,
                    calls: [.firstLaunch, .willFinishLaunching],
                    sandbox: .none,
                    readablePaths: ["/home/somebody/albums.txt"],
                    writablePaths: ["/srv/photos", "/home/somebody/Pictures", "/home/somebody"],
                    allowsNetwork: true,
                    allowsSockets: true,
                    environment: ["HTTPS_PROXY", "_x1"],
                    timeout: .milliseconds(2_500)
                ))
        let age = Double(bundle.installed.seconds) - Date().timeIntervalSince1970
        #expect(abs(age) < 3_600)
    }

    @Test("a bundle that says the least is started for each item, in the sandbox, and is named after its folder")
    func least() throws {
        try shelf.write("Notes", Shelf.keys("org.example.notes"))
        let bundle = try only()
        #expect(bundle.name == "Notes")
        #expect(
            bundle.launch
                == LaunchRules(
                    mode: .perItem, calls: [], sandbox: .strict, readablePaths: [], writablePaths: [],
                    allowsNetwork: false, allowsSockets: false, timeout: nil))
        #expect(bundle.version == "")
        #expect(bundle.documentTypes.isEmpty && bundle.urlTypes.isEmpty)
    }

    @Test("variants for this platform and device count, but not for the identity and the program")
    func variants() throws {
        let keys = Shelf.keys(
            "org.example.v",
            [
                "CFBundleIdentifier-linux": "org.example.other", "CFBundleExecutable~server": "other",
                "WaftTimeout": 1, "WaftTimeout-linux": 2, "WaftTimeout~server": 3, "WaftTimeout-linux~server": 4,
                "CFBundleName~laptop": "Laptop", "CFBundleName-linux": "Linux", "WaftNetwork~server": true,
            ]
        )
        try shelf.write("V", keys)
        let server = try #require(shelf.catalog(device: "server").load().bundles.first)
        #expect(server.launch.timeout == .seconds(4))
        #expect(server.launch.allowsNetwork)
        #expect(server.name == "Linux")
        #expect(server.identifier.text == "org.example.v")
        let laptop = try #require(shelf.catalog(device: "laptop").load().bundles.first)
        #expect(laptop.launch.timeout == .seconds(2))
        #expect(!laptop.launch.allowsNetwork)
        #expect(laptop.name == "Laptop")
    }

    @Test(
        "with a wrong identity, program or permission the bundle is not used, and the reason is reported")
    func mustBeRight() throws {
        #expect(try refusal(["CFBundleExecutable": "run"]) == "its Info.plist has no CFBundleIdentifier")
        #expect(try refusal(["CFBundleIdentifier": "a.b"]) == "its Info.plist has no CFBundleExecutable")
        #expect(try refusal(Shelf.keys("org.waft.inbox")) == "org.waft.inbox is the identifier of a built-in handler")
        #expect(try refusal(Shelf.keys("Hook")) == "Hook is the identifier of a built-in handler")
        #expect(try refusal(Shelf.keys("Org.Waft.INBOX")) == "Org.Waft.INBOX is the identifier of a built-in handler")
        for text in ["", "a..b", ".a", "a b", "ü.b", "a/b", String(repeating: "a", count: 256)] {
            #expect(try refusal(Shelf.keys(text)).hasPrefix("CFBundleIdentifier is not usable: "), "\(text)")
        }
        let refusals: [(String, Any, String)] = [
            ("CFBundleIdentifier", 5, "CFBundleIdentifier should be text, but is a number"),
            ("CFBundleName", ["a"], "CFBundleName should be text, but is a list"),
            ("CFBundleName", "a\u{1B}[31m", "CFBundleName is not usable: the name contains control"),
            ("CFBundleExecutable", true, "CFBundleExecutable should be text, but is true or false"),
            ("WaftLaunch", "always", "WaftLaunch is not usable: it should be one of perItem, perTransfer, resident"),
            ("WaftSandbox", "None", "WaftSandbox is not usable: it should be one of strict, none"),
            ("WaftSandbox", false, "WaftSandbox should be text, but is true or false"),
            ("WaftLaunchCalls", ["launch"], "WaftLaunchCalls is not usable: it should be one of first-launch, will-"),
            ("WaftLaunchCalls", 5, "WaftLaunchCalls should be a list of texts, but is a number"),
            ("WaftWritablePaths", [5], "WaftWritablePaths should be a list of texts, but is a number"),
            ("WaftWritablePaths", ["relative"], "WaftWritablePaths is not usable: relative should start with / or ~/"),
            ("WaftWritablePaths", ["/a/../b"], "WaftWritablePaths is not usable: a path in it is too long or has .."),
            ("WaftWritablePaths", Array(repeating: "/a", count: 65), "it has more than 64 paths in WaftWritablePaths"),
            ("WaftReadablePaths", ["x"], "WaftReadablePaths is not usable: x should start with / or ~/"),
            ("WaftNetwork", "yes", "WaftNetwork should be true or false, but is text"),
            ("WaftStreams", "yes", "WaftStreams should be true or false, but is text"),
            ("WaftSockets", 1, "WaftSockets should be true or false, but is a number"),
            ("WaftEnvironment", 5, "WaftEnvironment should be a list of texts, but is a number"),
            ("WaftEnvironment", ["A", true], "WaftEnvironment should be a list of texts, but is true or false"),
            ("WaftEnvironment", ["A": "b"], "WaftEnvironment should be a list of texts"),
            ("WaftEnvironment", [""], "WaftEnvironment is not usable: a name of a variable is letters, digits and _"),
            ("WaftEnvironment", ["A=b"], "WaftEnvironment is not usable: a name of a variable is letters"),
            ("WaftEnvironment", "LD_PRELOAD", "WaftEnvironment is not usable: LD_PRELOAD would change the code"),
            ("WaftEnvironment", ["NOTIFY_SOCKET"], "WaftEnvironment is not usable: NOTIFY_SOCKET is for the receiver"),
            ("WaftEnvironment", ["WAFT_FILE"], "WaftEnvironment is not usable: Waft sets WAFT_FILE itself"),
            ("WaftEnvironment", Array(repeating: "A", count: 65), "it has more than 64 variables in WaftEnvironment"),
            ("WaftTimeout", "5", "WaftTimeout should be a number of seconds, but is text"),
            ("WaftTimeout", 0, "WaftTimeout is not usable: it should be more than 0 and at most 86400 seconds"),
            ("WaftTimeout", -1, "WaftTimeout is not usable"), ("WaftTimeout", 90_000, "WaftTimeout is not usable"),
            ("WaftTimeout", Double.infinity, "WaftTimeout is not usable"),
        ]
        for (key, value, reason) in refusals {
            let told = try refusal(Shelf.keys("org.example.a", [key: value]))
            #expect(told.hasPrefix(reason), "\(told)")
        }
    }

    @Test("streams are for handlers that are started for each call, and ignored for a resident one")
    func streams() throws {
        for mode in ["perItem", "perTransfer"] {
            try shelf.write("A", Shelf.keys("org.example.a", ["WaftStreams": true, "WaftLaunch": mode]))
            #expect(try only().launch.takesStreams)
            #expect(shelf.catalog().load().problems == [])
        }
        try shelf.write("A", Shelf.keys("org.example.a", ["WaftStreams": true, "WaftLaunch": "resident"]))
        #expect(try !only().launch.takesStreams)
        let reason = "WaftStreams is for handlers with WaftLaunch perItem or perTransfer, and is ignored"
        #expect(shelf.catalog().load().problems.map(\.reason) == [reason])
    }

    @Test("the valid document types are taken, with a warning for the rest")
    func partlyUnderstood() throws {
        let entries: [Any] = [
            "text", 5,
            ["LSItemContentTypes": ["public.image", 7, "not a type", "dyn.age80y65tr30a"]] as [String: Any],
            ["LSItemContentTypes": ["public.movie"], "LSHandlerRank": "Best"] as [String: Any],
            ["LSItemContentTypes": ["public.audio"], "CFBundleTypeRole": ["Editor"]] as [String: Any],
            ["LSItemContentTypes": [] as [String]], ["CFBundleTypeOSTypes": ["****"]],
        ]
        let keys = Shelf.keys(
            "org.example.a",
            [
                "CFBundleDocumentTypes": entries,
                "CFBundleURLTypes": [["CFBundleURLSchemes": ["x-a", "http", "MAILTO", "no:colon", "ü", ""]]],
                "UTExportedTypeDeclarations": "none", "UTImportedTypeDeclarations": [["UTTypeIdentifier": 5]],
                "WaftSandBox": "none",
            ]
        )
        try shelf.write("A", keys)
        let bundle = try only()
        #expect(bundle.documentTypes.map(\.contents) == [.types([try type("public.image")])])
        #expect(bundle.urlTypes.flatMap(\.schemes).map(\.text) == ["x-a"])
        let warnings = shelf.catalog().load().reasons(.warning)
        let beginnings = [
            "CFBundleDocumentTypes, entry 1: should be a dictionary, but is text",
            "CFBundleDocumentTypes, entry 2: should be a dictionary, but is a number",
            "CFBundleDocumentTypes, entry 3: LSItemContentTypes should be a list of texts, but has a number in it",
            "CFBundleDocumentTypes, entry 3: \"not a type\" in LSItemContentTypes is not a uniform type identifier",
            "CFBundleDocumentTypes, entry 3: a dynamic identifier in LSItemContentTypes means nothing elsewhere",
            "CFBundleDocumentTypes, entry 4: LSHandlerRank is \"Best\", which is none of Owner, Default, Alternate, None",
            "CFBundleDocumentTypes, entry 5: CFBundleTypeRole should be one of",
            "CFBundleDocumentTypes, entry 7: names no type",
            "CFBundleURLTypes, entry 1: http is built in and cannot be claimed",
            "CFBundleURLTypes, entry 1: mailto is built in and cannot be claimed",
            "CFBundleURLTypes, entry 1: \"no:colon\" is not a URL scheme",
            "UTExportedTypeDeclarations should be a list of dictionaries, but is text",
            "UTImportedTypeDeclarations, entry 1: has no UTTypeIdentifier",
            "there is no key WaftSandBox; there are WaftLaunch, WaftSandbox",
        ]
        for beginning in beginnings {
            #expect(warnings.contains { $0.hasPrefix(beginning) }, "\(beginning)")
        }
    }

    @Test("warnings of one bundle are not more than people read")
    func manyWarnings() throws {
        try shelf.write("A", Shelf.keys("org.example.a", ["CFBundleDocumentTypes": Array(repeating: 5, count: 5_000)]))
        #expect(shelf.catalog().load().problems.count == 21)
    }

    @Test("a bundle that claims or declares too much is refused")
    func tooMuch() throws {
        let types = (0..<600).map { "org.example.t\($0)" }
        #expect(
            try refusal(Shelf.keys("org.example.a", ["CFBundleDocumentTypes": [["LSItemContentTypes": types]]]))
                == "it has more than 512 document types")
        let schemes = (0..<65).map { "x-\($0)" }
        #expect(
            try refusal(Shelf.keys("org.example.a", ["CFBundleURLTypes": [["CFBundleURLSchemes": schemes]]]))
                == "it has more than 64 URL schemes")
        let declarations = types.map { ["UTTypeIdentifier": $0] }
        #expect(
            try refusal(Shelf.keys("org.example.a", ["UTExportedTypeDeclarations": declarations]))
                == "it has more than 256 exported types")
    }

    @Test("the executable must be a program inside the bundle")
    func executables() throws {
        let path = try shelf.write("A", Shelf.keys("org.example.a"))
        let outside = shelf.folder.file("outside", "#!/bin/sh\n", mode: 0o755)
        let files = FileManager.default
        try files.createDirectory(atPath: path + "/folder", withIntermediateDirectories: true)
        Shelf.writeProgram(path + "/plain", mode: 0o644)
        Shelf.writeProgram(path + "/empty", "")
        Shelf.writeProgram(path + "/open", mode: 0o757)
        try files.createSymbolicLink(atPath: path + "/out", withDestinationPath: outside)
        try files.createSymbolicLink(atPath: path + "/folder/up", withDestinationPath: "../../../../outside")
        try files.createSymbolicLink(atPath: path + "/dangling", withDestinationPath: "nothing")
        try files.createSymbolicLink(atPath: path + "/loop", withDestinationPath: "loop")
        mkfifo(path + "/pipe", 0o755)
        let refusals = [
            ("loop", "its executable loop cannot be found"), ("folder", "its executable folder is not a regular file"),
            ("pipe", "its executable pipe is not a regular file"),
            ("empty", "its executable empty is empty"), ("open", "everyone may write to open"),
            ("out", "its executable out is a link that leads out of the bundle"),
            ("folder/up", "its executable folder/up is a link that leads out of the bundle"),
        ]
        for (name, reason) in refusals {
            try shelf.write("A", Shelf.keys("org.example.a", ["CFBundleExecutable": name]))
            let told = try #require(shelf.catalog().load().reasons(.unusable).first)
            #expect(told.hasPrefix(reason), "\(told)")
        }
        Shelf.writeProgram(path + "/openPlain", mode: 0o646)
        try shelf.write("A", Shelf.keys("org.example.a", ["CFBundleExecutable": "openPlain"]))
        let told = try #require(shelf.catalog().load().reasons(.unusable).first)
        #expect(told.hasPrefix("everyone may write to openPlain"), "\(told)")
        for name in ["", ".", "..", "../outside", "/bin/sh", "a/../run", "./run", "run/", "a//b", "folder/../run"] {
            try shelf.write("A", Shelf.keys("org.example.a", ["CFBundleExecutable": name]))
            let told = try #require(shelf.catalog().load().reasons(.unusable).first)
            #expect(told.hasPrefix("CFBundleExecutable is not usable: "), "\(name): \(told)")
        }
    }

    @Test("a bundle whose executable is not there yet is a handler with a warning")
    func missingExecutable() throws {
        let path = try shelf.write("A", Shelf.keys("org.example.a"))
        Shelf.writeProgram(path + "/plain", mode: 0o644)
        try FileManager.default.createSymbolicLink(atPath: path + "/dangling", withDestinationPath: "nothing")
        let plain = "is not executable; chmod +x may be missing"
        for (name, fault) in [("missing", "is missing"), ("dangling", "is missing"), ("plain", plain)] {
            try shelf.write("A", Shelf.keys("org.example.a", ["CFBundleExecutable": name]))
            let bundle = try only()
            #expect(bundle.executable == "\(path)/\(name)" && bundle.programFault == fault)
            let snapshot = shelf.catalog().load()
            #expect(snapshot.reasons(.warning) == ["its executable \(name) \(fault): its items wait"])
        }
    }

    @Test("an executable deeper in the bundle, or a link inside it, will do")
    func goodExecutables() throws {
        let path = try shelf.write("A", Shelf.keys("org.example.a", ["CFBundleExecutable": "bin/start"]))
        try FileManager.default.createDirectory(atPath: path + "/bin", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: path + "/bin/start", withDestinationPath: "../run")
        #expect(try only().executable == path + "/bin/start")
    }

    @Test("the bundle's folder itself may be a link")
    func linkedBundle() throws {
        let path = try shelf.write("Real", Shelf.keys("org.example.a"), in: shelf.folder.path)
        try FileManager.default.createSymbolicLink(atPath: shelf.user + "/Linked.handler", withDestinationPath: path)
        #expect(try only().executable == shelf.user + "/Linked.handler/run")
    }

    @Test("a program that everyone may write to is not run")
    func writableByEveryone() throws {
        let path = try shelf.write("A", Shelf.keys("org.example.a"))
        for (file, name, mode) in [("", "the folder", 0o755), ("/Info.plist", "Info.plist", 0o644)]
            as [(String, String, mode_t)]
        {
            chmod(path + file, mode | 0o002)
            let told = try #require(shelf.catalog().load().reasons(.unusable).first)
            #expect(told.hasPrefix("everyone may write to \(name)"))
            chmod(path + file, mode)
        }
        _ = try only()
    }

    @Test(
        "a program that belongs to another user is not run",
        .enabled(if: geteuid() == 0, "only root can give files away"))
    func anothersBundle() throws {
        let path = try shelf.write("A", Shelf.keys("org.example.a"))
        for (file, name) in [("", "the folder"), ("/Info.plist", "Info.plist"), ("/run", "run")] {
            #expect(chown(path + file, 4_321, 0) == 0)
            let told = try #require(shelf.catalog().load().reasons(.unusable).first)
            #expect(told.hasPrefix("\(name) belongs to user 4321, who could have programs run as you"))
            #expect(chown(path + file, 0, 0) == 0)
        }
    }

    @Test("a folder with no Info.plist, or with something else in its place, is reported with the reason")
    func infoInItsPlace() throws {
        let path = try shelf.write("A", info: nil)
        let info = path + "/Info.plist"
        func told() throws -> String { try #require(shelf.catalog().load().reasons(.unusable).first) }
        #expect(try told() == "it has no Info.plist")
        mkfifo(info, 0o644)
        #expect(try told() == "its Info.plist cannot be read: it is not a regular file")
        unlink(info)
        mkdir(info, 0o755)
        #expect(try told() == "its Info.plist cannot be read: it is not a regular file")
        rmdir(info)
        symlink("/etc/passwd", info)
        #expect(try told() == "its Info.plist cannot be read: it is a symbolic link")
        unlink(info)
        try shelf.write("A", info: Data("hello".utf8))
        #expect(try told() == "its Info.plist is neither an XML nor a binary property list")
        try shelf.write("A", info: Data())
        #expect(try told() == "its Info.plist is neither an XML nor a binary property list")
        // A hole of 4 GiB takes no room on the disk, and must take none in memory.
        truncate(info, 4 << 30)
        #expect(try told() == "its Info.plist is larger than 1024 KiB")
    }

    @Test("a file that is named like a bundle is reported, hidden and other things are passed over")
    func namesOfBundles() throws {
        try shelf.write("Good", Shelf.keys("org.example.good"))
        for name in ["File.handler", ".Hidden.handler", "notes.txt", "handler"] {
            #expect(FileManager.default.createFile(atPath: shelf.user + "/" + name, contents: Data()))
        }
        let snapshot = shelf.catalog().load()
        #expect(snapshot.identifiers == ["org.example.good"])
        #expect(snapshot.problems.map(\.name) == ["File"])
        #expect(snapshot.problems.map(\.reason) == ["it is not a folder"])
    }

    @Test("wrong kinds of values everywhere are reported or passed over, never fatal", arguments: [UInt64](1...4))
    func wrongKinds(seed: UInt64) throws {
        var random = Seeded(seed)
        let names = [
            "CFBundleIdentifier", "CFBundleName", "CFBundleExecutable", "CFBundleDocumentTypes", "CFBundleURLTypes",
            "UTExportedTypeDeclarations", "UTImportedTypeDeclarations", "WaftLaunch", "WaftLaunchCalls", "WaftSandbox",
            "WaftReadablePaths", "WaftWritablePaths", "WaftNetwork", "WaftSockets", "CFBundleVersion", "WaftTimeout",
            "WaftStreams", "LSItemContentTypes", "LSHandlerRank", "CFBundleTypeRole",
            "CFBundleTypeExtensions", "CFBundleTypeMIMETypes", "LSTypeIsPackage", "CFBundleURLSchemes",
            "UTTypeIdentifier", "UTTypeConformsTo", "UTTypeTagSpecification", "public.filename-extension", "X-linux~vm",
        ]
        func value(_ depth: Int) -> Any {
            switch Int.random(in: 0...(depth > 3 ? 5 : 9), using: &random) {
            case 0: return Int.random(in: Int.min...Int.max, using: &random)
            case 1: return Bool.random(using: &random)
            case 2: return Data([1])
            case 3: return Date(timeIntervalSince1970: 0)
            case 4: return names.randomElement(using: &random) ?? ""
            case 5:
                return ["", "public.image", "a.b", "*", "a\nb", "\u{202E}", "../x", "run"].randomElement(using: &random)
                    ?? ""
            case 6: return (0..<3).map { _ in value(depth + 1) }
            default:
                var entries: [String: Any] = [:]
                for _ in 0..<6 { entries[names.randomElement(using: &random) ?? ""] = value(depth + 1) }
                return entries
            }
        }
        for round in 0..<40 {
            var keys = Shelf.keys("org.example.a\(round)")
            for name in names where Bool.random(using: &random) { keys[name] = value(0) }
            if round.isMultiple(of: 2) { keys.merge(Shelf.keys("org.example.a\(round)")) { _, good in good } }
            try shelf.write("B\(round)", keys, format: round.isMultiple(of: 3) ? .binary : .xml)
        }
        let snapshot = shelf.catalog().load()
        let unusable = Set(snapshot.problems.lazy.filter { $0.severity == .unusable }.map(\.path))
        #expect(snapshot.bundles.count + unusable.count == 40)
        #expect(snapshot.problems.allSatisfy { !$0.reason.contains("\n") })
    }
}
