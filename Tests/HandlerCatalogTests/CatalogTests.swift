import Foundation
import HandlerCatalog
import TestSupport
import Testing
import UniformTypes

@Suite("The catalog")
struct CatalogTests {
    private let shelf = Shelf()

    @Test("bundles of all three folders are found, in the order of their names")
    func threeFolders() throws {
        try shelf.write("Zebra", Shelf.keys("org.example.z"))
        try shelf.write("apple", Shelf.keys("org.example.a"), in: shelf.machine)
        try shelf.write("Mouse", Shelf.keys("org.example.m"), in: shelf.distribution)
        let snapshot = shelf.catalog().load()
        #expect(snapshot.bundles.map(\.name) == ["apple", "Mouse", "Zebra"])
        #expect(snapshot.bundles.map(\.origin) == [.machine, .distribution, .user])
        #expect(snapshot.problems == [])
    }

    @Test("folders that are not there have no bundles, and that is no problem")
    func missingFolders() {
        let folders = HandlerFolders(user: "/nonexistent/a", machine: "/nonexistent/b", distribution: "/nonexistent/c")
        let snapshot = HandlerCatalog(folders: folders, choicesPath: "/nonexistent/d.json", home: nil).load()
        #expect(snapshot.bundles == [])
        #expect(snapshot.problems == [])
        let usual = HandlerFolders(user: "/home/somebody/handlers")
        #expect(usual.machine == "/etc/waft/handlers")
        #expect(usual.distribution == "/usr/share/waft/handlers")
    }

    @Test("a file in a folder's place is reported")
    func fileInPlace() throws {
        try FileManager.default.removeItem(atPath: shelf.machine)
        #expect(FileManager.default.createFile(atPath: shelf.machine, contents: nil))
        try shelf.write("A", Shelf.keys("org.example.a"))
        let snapshot = shelf.catalog().load()
        #expect(snapshot.identifiers == ["org.example.a"])
        #expect(snapshot.problems.map(\.path) == [shelf.machine])
    }

    @Test("a broken bundle hurts nothing else")
    func brokenBesideGood() throws {
        try shelf.write("Good", Shelf.opening("org.example.good", "public.image"))
        try shelf.write("Broken", info: Data("bplist00garbage".utf8))
        try shelf.write("NoProgram", Shelf.keys("org.example.n", ["CFBundleExecutable": "../none"]))
        let snapshot = shelf.catalog().load()
        #expect(snapshot.identifiers == ["org.example.good"])
        #expect(snapshot.problems.map(\.name) == ["Broken", "NoProgram"])
        #expect(snapshot.problems.map(\.severity) == [.unusable, .unusable])
        #expect(snapshot.problems.map(\.identifier?.text) == [nil, "org.example.n"])
        #expect(snapshot.claimants(of: .jpeg).first?.bundle.name == "Good")
    }

    @Test(
        "of bundles with one identifier the user's goes before the machine's, that before a package's, and the log has it"
    )
    func duplicatesAcrossFolders() throws {
        try shelf.write("A", Shelf.keys("org.example.same", ["CFBundleName": "Package's"]), in: shelf.distribution)
        try shelf.write("B", Shelf.keys("org.example.same", ["CFBundleName": "Machine's"]), in: shelf.machine)
        try shelf.write("C", Shelf.keys("org.example.Same", ["CFBundleName": "User's"]))
        #expect(shelf.catalog().load().bundles.map(\.name) == ["User's"])
        let reasons = shelf.catalog().load().reasons(.unusable)
        let reason =
            "\(shelf.user)/C.handler has the same identifier org.example.Same, and is in a folder that is searched first"
        #expect(reasons == [reason, reason])
        try FileManager.default.removeItem(atPath: shelf.user + "/C.handler")
        #expect(shelf.catalog().load().bundles.map(\.name) == ["Machine's"])
        try FileManager.default.removeItem(atPath: shelf.machine + "/B.handler")
        #expect(shelf.catalog().load().bundles.map(\.name) == ["Package's"])
    }

    @Test("of two in one folder the one installed first goes first, then the one whose path does")
    func duplicatesInOneFolder() throws {
        let old = try HandlerBundle.sample("same", installed: 5)
        let new = try HandlerBundle.sample("same", installed: 6)
        let other = HandlerBundle(
            identifier: old.identifier,
            name: "z",
            path: "/handlers/a.handler",
            origin: .user,
            installed: old.installed,
            executable: "/x"
        )
        #expect(CatalogSnapshot(bundles: [new, old]).bundles == [old])
        #expect(CatalogSnapshot(bundles: [old, other, new]).bundles == [other])
        let reasons = CatalogSnapshot(bundles: [new, old]).problems.map(\.reason)
        #expect(reasons == ["/handlers/same.handler has the same identifier org.example.same, and was installed first"])
    }

    @Test("types that bundles declare are known, and those that cannot be are reported at their bundle")
    func declarations() throws {
        let exported: [[String: Any]] = [
            ["UTTypeIdentifier": "org.example.notes", "UTTypeConformsTo": ["public.plain-text", "org.nobody.knows"]],
            ["UTTypeIdentifier": "public.stolen"], ["UTTypeIdentifier": "com.adobe.pdf"],
        ]
        try shelf.write("A", Shelf.keys("org.example.a", ["UTExportedTypeDeclarations": exported]))
        let imported: [[String: Any]] = [
            ["UTTypeIdentifier": "com.other.x", "UTTypeConformsTo": "org.example.notes"],
            ["UTTypeIdentifier": "dyn.age81q7pf"],
        ]
        try shelf.write("B", Shelf.keys("org.example.b", ["UTImportedTypeDeclarations": imported]))
        let snapshot = shelf.catalog().load()
        #expect(snapshot.bundles.count == 2)
        #expect(snapshot.registry.conforms(try type("com.other.x"), to: .plainText))
        #expect(!snapshot.registry.isDeclared(try type("public.stolen")))
        let told = snapshot.problems.map { "\($0.name): \($0.reason)" }
        #expect(told.count == 4)
        #expect(
            told.contains {
                $0.hasPrefix("A: left out that the exported type org.example.notes conforms to org.nobody")
            })
        #expect(told.contains { $0.hasPrefix("A: did not take the exported type public.stolen") })
        #expect(told.contains { $0.hasPrefix("A: did not take the exported type com.adobe.pdf") })
        #expect(told.contains { $0.hasPrefix("B: did not take the imported type dyn.age81q7pf") })
    }

    @Test("types that conform to each other in a cycle do no harm: the first declared hold, the last is reported")
    func cycles() throws {
        func declaration(_ name: String, _ parent: String) -> [String: Any] {
            ["UTTypeIdentifier": "org.example.\(name)", "UTTypeConformsTo": ["org.example.\(parent)"]]
        }
        let declarations = [declaration("a", "b"), declaration("b", "c"), declaration("c", "a"), declaration("d", "d")]
        let keys = Shelf.opening("org.example.x", "org.example.c")
        try shelf.write("X", keys.merging(["UTExportedTypeDeclarations": declarations]) { _, new in new })
        let snapshot = shelf.catalog(rule: .handlers).load()
        let reasons = snapshot.reasons(.warning)
        #expect(reasons.contains { $0.contains("org.example.c: it would conform to itself") })
        #expect(reasons.contains { $0.contains("org.example.d: it would conform to itself") })
        #expect(snapshot.claimants(of: try type("org.example.c")).count == 1)
        for name in ["a", "b", "d"] { _ = snapshot.claimants(of: try type("org.example.\(name)")) }
    }

    @Test("a disabled bundle is listed, but opens and declares nothing")
    func disabled() throws {
        let path = shelf.choices
        try Data(#"{"disabled": ["ORG.example.a"]}"#.utf8).write(to: URL(fileURLWithPath: path))
        let keys = Shelf.opening("org.example.a", "org.example.t")
        let declaration = ["UTTypeIdentifier": "org.example.t"]
        try shelf.write("A", keys.merging(["UTExportedTypeDeclarations": [declaration]]) { _, new in new })
        let snapshot = shelf.catalog(rule: .handlers).load()
        let bundle = try #require(snapshot.bundles.first)
        #expect(!snapshot.isEnabled(bundle))
        #expect(!snapshot.registry.isDeclared(try type("org.example.t")))
        #expect(snapshot.claimants(of: try type("org.example.t")).isEmpty)
        #expect(snapshot.passedOver(try type("org.example.t")).map(\.reason) == ["it is disabled"])
    }

    @Test("more bundles than a folder may have are left out, and the log has it")
    func manyBundles() throws {
        for number in 0...CatalogLimits.bundlesInFolder {
            mkdir(shelf.user + "/\(10_000 + number).handler", 0o755)
        }
        let snapshot = shelf.catalog().load()
        #expect(snapshot.reasons(.warning) == ["there are more than 1000 bundles in it; the rest is left out"])
        #expect(snapshot.reasons(.unusable).count == 1_000)
    }

    @Test("500 bundles are read, each with a type of its own")
    func fiveHundred() throws {
        for number in 0..<500 {
            let declaration: [String: Any] = [
                "UTTypeIdentifier": "org.example.t\(number)", "UTTypeConformsTo": ["public.data"],
                "UTTypeTagSpecification": ["public.filename-extension": ["ext\(number)"]],
            ]
            let keys = Shelf.opening("org.example.a\(number)", "org.example.t\(number)", "public.image")
            try shelf.write("A\(number)", keys.merging(["UTExportedTypeDeclarations": [declaration]]) { _, new in new })
        }
        let clock = ContinuousClock()
        var snapshot = shelf.catalog().load()
        let loading = clock.measure { snapshot = shelf.catalog().load() }
        #expect(snapshot.bundles.count == 500)
        #expect(snapshot.problems == [])
        var found = 0
        let one = clock.measure {
            found = snapshot.claimants(of: snapshot.registry.type(forFileName: "a.ext7", kind: .regularFile)).count
        }
        #expect(found == 2)
        let all = clock.measure { found = snapshot.claimants(of: .jpeg).count }
        #expect(found == 501)
        print(
            "500 bundles: read in \(loading); one claimant of 500 found in \(one); 500 claimants put in order in \(all)"
        )
    }
}
