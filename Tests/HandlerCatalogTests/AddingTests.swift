import Foundation
import HandlerCatalog
import TestSupport
import Testing
import UniformTypes

@Suite("Adding and removing handlers")
struct AddingTests {
    private let shelf = Shelf()
    private var catalog: HandlerCatalog { shelf.catalog(rule: .handlers) }

    private func script(_ name: String = "import.sh", _ text: String = "#!/bin/sh\nexit 0\n", mode: Int = 0o644)
        -> String
    {
        shelf.folder.file(name, text, mode: mode)
    }

    private func refusal(_ recipe: HandlerRecipe) -> CatalogError? {
        do {
            try catalog.add(recipe, workingDirectory: shelf.folder.path)
            return nil
        } catch { return error }
    }

    private var userFolder: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: shelf.user)) ?? []).sorted()
    }

    @Test("a handler is added with a copy of its program, and opens its types")
    func adds() throws {
        let path = script()
        let recipe = HandlerRecipe(
            name: "Photos", types: ["public.image"], schemes: ["x-photos:"], run: "./import.sh",
            readable: ["list"], writable: ["./out", "out2/"], network: true, sockets: true
        )
        for name in ["list", "out", "out2"] { mkdir(shelf.folder / name, 0o755) }
        let added = try catalog.add(recipe, workingDirectory: shelf.folder.path)
        #expect(added.warnings == [])
        #expect(added.bundle.identifier.text == "org.waft.local.photos")
        #expect(added.bundle.path == shelf.user + "/Photos.handler")
        #expect(added.bundle.executable == shelf.user + "/Photos.handler/import.sh")
        #expect(
            added.bundle.launch
                == LaunchRules(
                    readablePaths: [shelf.folder / "list"],
                    writablePaths: [shelf.folder / "out", shelf.folder / "out2"],
                    allowsNetwork: true, allowsSockets: true))
        let snapshot = catalog.load()
        #expect(snapshot.bundles == [added.bundle])
        #expect(snapshot.problems == [])
        #expect(snapshot.claimants(of: .jpeg).map(\.bundle.name) == ["Photos"])
        #expect(snapshot.openedSchemes.map(\.text) == ["x-photos"])
        // The bundle has a copy, so the original may be removed.
        try FileManager.default.removeItem(atPath: path)
        let copy = try #require(added.bundle.executable)
        #expect(try String(contentsOfFile: copy, encoding: .utf8) == "#!/bin/sh\nexit 0\n")
        var status = stat()
        #expect(stat(copy, &status) == 0 && status.st_mode & 0o7777 == 0o755)
        #expect(stat(added.bundle.path, &status) == 0 && status.st_mode & 0o7777 == 0o755)
        #expect(userFolder == ["Photos.handler"])
    }

    @Test("the modes do not depend on the umask, nor on the user's folder being there")
    func umaskAndFolder() throws {
        try FileManager.default.removeItem(atPath: shelf.folder / "user")
        let added = try catalog.add(HandlerRecipe(name: "A", types: ["public.data"], run: script(mode: 0o600)))
        var status = stat()
        #expect(stat(shelf.user, &status) == 0 && status.st_mode & 0o777 == 0o700)
        #expect(stat(added.bundle.path + "/Info.plist", &status) == 0 && status.st_mode & 0o7777 == 0o644)
    }

    @Test("without a copy, a script in the bundle starts the program at its place, whatever characters its path has")
    func withoutCopy() throws {
        let odd = "it's $HOME; `a` \"b\".sh"
        let path = script(odd, "#!/bin/sh\necho \"$1\" \"$2\" > \"$(dirname \"$0\")/answer\"\n", mode: 0o755)
        let added = try catalog.add(HandlerRecipe(name: "A", types: ["public.data"], run: path, copying: false))
        #expect(added.bundle.launch.readablePaths == [path], "else its sandbox would not let it start")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(added.bundle.executable))
        process.arguments = ["open-url", "file:///$(id)"]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(try String(contentsOfFile: shelf.folder / "answer", encoding: .utf8) == "open-url file:///$(id)\n")
        unlink(path)
        _ = script("plain.sh")
        let refused = refusal(HandlerRecipe(name: "B", types: ["public.data"], run: "plain.sh", copying: false))
        #expect(refused?.description.hasSuffix("it is not executable; chmod +x may be missing") == true)
    }

    @Test("identifiers are made of the name, and no two are the same")
    func identifiers() throws {
        _ = script()
        let names = [
            "Photos", "Photos!", "¡¡Photos", "世界", "--- ", "Fotos für Ömi", String(repeating: "x", count: 200),
        ]
        var found: [String] = []
        for name in names where !name.hasPrefix("-") {
            let recipe = HandlerRecipe(name: name, types: ["public.data"], run: "import.sh")
            found.append(try catalog.add(recipe, workingDirectory: shelf.folder.path).bundle.identifier.text)
        }
        #expect(
            found == [
                "org.waft.local.photos", "org.waft.local.photos-2", "org.waft.local.photos-3", "org.waft.local.handler",
                "org.waft.local.fotos-f-r-mi", "org.waft.local." + String(repeating: "x", count: 100),
            ])
    }

    @Test("an identifier about which something was chosen is not given to another handler")
    func chosenIdentifiers() throws {
        try Data(#"{"disabled": ["org.waft.local.photos"]}"#.utf8).write(to: URL(fileURLWithPath: shelf.choices))
        let recipe = HandlerRecipe(name: "Photos", types: ["public.image"], run: script())
        #expect(try catalog.add(recipe).bundle.identifier.text == "org.waft.local.photos-2")
    }

    @Test("a name that is taken is refused, by a broken bundle too")
    func takenNames() throws {
        _ = script()
        let recipe = HandlerRecipe(name: "Photos", types: ["public.image"], run: "import.sh")
        #expect(refusal(recipe) == nil)
        #expect(refusal(recipe)?.code == .nameTaken)
        #expect(refusal(HandlerRecipe(name: "photos", types: ["public.image"], run: "import.sh"))?.code == .nameTaken)
        try shelf.write("Broken", info: nil)
        #expect(refusal(HandlerRecipe(name: "Broken", types: ["public.image"], run: "import.sh"))?.code == .nameTaken)
        #expect(userFolder == ["Broken.handler", "Photos.handler"])
    }

    @Test(
        "names that cannot be are refused, and nothing is written",
        arguments: [
            "", ".", "..", "a/b", ".hidden", "-x", "a\nb", "a\u{202E}b", "inbox", "Inbox", "  ",
            String(repeating: "x", count: 248), String(repeating: "x", count: 300),
        ])
    func unfitNames(name: String) {
        let refused = refusal(HandlerRecipe(name: name, types: ["public.image"], run: script()))
        #expect(refused?.code == .unfit)
        #expect(userFolder == [])
    }

    @Test("an undeclared type is taken with a warning")
    func undeclaredType() throws {
        let recipe = HandlerRecipe(name: "A", types: ["com.example.rare", "public.data", "public.DATA"], run: script())
        let added = try catalog.add(recipe)
        #expect(added.warnings == ["nothing declares the type com.example.rare; items must be sent as exactly that"])
        #expect(added.bundle.documentTypes.map(\.contents) == [.types([try type("com.example.rare"), .data])])
    }

    @Test("a text that is no type is refused, with a suggestion")
    func unfitTypes() {
        _ = script()
        let refusals = [
            ("jpg", "jpg is a file name extension; its type is public.jpeg"),
            (".PNG", ".PNG is a file name extension; its type is public.png"),
            ("image/png", "image/png is a MIME type; its type is public.png"),
            (
                "image/nonsense",
                "\"image/nonsense\" is not a uniform type identifier such as public.image or com.adobe.pdf"
            ),
            ("nonsense", "\"nonsense\" is not a uniform type identifier such as public.image or com.adobe.pdf"),
            ("public image", "\"public image\" is not a uniform type identifier such as public.image or com.adobe.pdf"),
            ("*", "\"*\" is not a uniform type identifier such as public.image or com.adobe.pdf"), ("", ""),
            ("dyn.age81q7pf", "dyn.age81q7pf is a dynamic identifier; name a declared type"),
        ]
        for (text, reason) in refusals {
            let refused = refusal(HandlerRecipe(name: "A", types: [text], run: "import.sh"))
            #expect(refused?.code == .unfit)
            #expect(refused?.description.hasPrefix(reason) == true, "\(refused?.description ?? "taken")")
        }
        #expect(userFolder == [])
    }

    @Test("schemes that are none or built in are refused, and so is a handler that opens nothing")
    func unfitSchemes() {
        _ = script()
        let refusals = [
            (["https"], "https: is built in; no handler can claim it"), (["MAILTO:"], "mailto: is built in"),
            (["a b"], "\"a b\" is not a URL scheme"), ([""], "\"\" is not a URL scheme"),
            ([], "a handler must open something"),
        ]
        for (schemes, reason) in refusals {
            let refused = refusal(HandlerRecipe(name: "A", schemes: schemes, run: "import.sh"))
            #expect(refused?.description.hasPrefix(reason) == true)
        }
    }

    @Test("a program that the kernel would not start is refused, with the reason")
    func unfitPrograms() {
        let folder = shelf.folder
        _ = script("no-interpreter", "echo hello\n")
        _ = script("windows", "#!/bin/sh\r\necho\r\n")
        _ = script("empty", "")
        mkfifo(folder / "pipe", 0o755)
        let refusals = [
            ("no-interpreter", "it is a text whose first line does not name an interpreter, such as #!/bin/sh"),
            ("windows", "its lines end as on Windows"), ("empty", "it is empty"), ("pipe", "it is not a regular file"),
            (".", "it is not a regular file"), ("missing", "No such file or directory"),
        ]
        for (name, reason) in refusals {
            let refused = refusal(HandlerRecipe(name: "A", types: ["public.data"], run: name))
            #expect(refused?.code == (name == "missing" ? .missingProgram : .unfit))
            #expect(refused?.description.contains("cannot be used as a handler: \(reason)") == true, "\(name)")
        }
        #expect(userFolder == [])
    }

    @Test("a compiled program is copied whole, whatever its name is")
    func compiledProgram() throws {
        let recipe = HandlerRecipe(name: "A", types: ["public.data"], run: "/bin/ls")
        let copy = try #require(try catalog.add(recipe).bundle.executable)
        #expect(FileManager.default.contentsEqual(atPath: copy, andPath: "/bin/ls"))
        _ = script("info.PLIST")
        let added = try catalog.add(HandlerRecipe(name: "B", types: ["public.data"], run: shelf.folder / "info.PLIST"))
        #expect(added.bundle.executable == shelf.user + "/B.handler/program")
    }

    @Test("a readable path must exist, and a writable one must be a folder")
    func paths() throws {
        _ = script()
        let missing = refusal(HandlerRecipe(name: "A", types: ["public.data"], run: "import.sh", writable: ["gone"]))
        #expect(missing?.description == "\(shelf.folder / "gone") is not a folder that can be written to")
        let unread = refusal(HandlerRecipe(name: "A", types: ["public.data"], run: "import.sh", readable: ["gone"]))
        #expect(unread?.description == "\(shelf.folder / "gone"), which it should read, does not exist")
    }

    @Test("a program that lies where nothing may be read must be copied")
    func closedProgram() throws {
        try shelf.write("Other", Shelf.keys("org.example.other"))
        let run = shelf.user + "/Other.handler/run"
        let recipe = HandlerRecipe(name: "A", types: ["public.data"], run: run, copying: false)
        let refused = try #require(refusal(recipe))
        #expect(refused.code == .unfit)
        #expect(refused.description.contains("is in a folder of handlers, which is closed to handlers"))
        #expect(refused.description.hasSuffix("or use --copy"))
        _ = try catalog.add(HandlerRecipe(name: "A", types: ["public.data"], run: run))
    }

    @Test("the remains of an interrupted addition are removed with the next one")
    func leftovers() throws {
        mkdir(shelf.user + "/.work.abcdef", 0o700)
        _ = script("import.sh")
        Shelf.writeProgram(shelf.user + "/.work.abcdef/run")
        _ = try catalog.add(HandlerRecipe(name: "A", types: ["public.data"], run: shelf.folder / "import.sh"))
        #expect(userFolder == ["A.handler"])
    }

    @Test("of several that add one name at the same time one does")
    func atTheSameTime() async throws {
        let (catalog, path) = (catalog, script())
        let outcomes = await withTaskGroup(of: Bool.self, returning: [Bool].self) { group in
            for _ in 0..<8 {
                group.addTask {
                    (try? catalog.add(HandlerRecipe(name: "A", types: ["public.data"], run: path))) != nil
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.filter { $0 }.count == 1)
        #expect(userFolder == ["A.handler"])
        #expect(catalog.load().problems == [])
    }

    @Test("a handler is removed by any of its names, with all choices about it")
    func removes() throws {
        let path = try shelf.write("Photos", Shelf.opening("org.example.photos", "public.image"))
        try shelf.write("Other", Shelf.opening("org.example.other", "public.image"))
        // Removing does not follow links.
        let kept = shelf.folder.file("kept")
        symlink(kept, path + "/link")
        symlink(shelf.machine, path + "/folder")
        try shelf.write("Machine", Shelf.keys("org.example.m"), in: shelf.machine)
        try catalog.setDefault("Photos", for: .image)
        try catalog.setDefault("Other", for: .jpeg)
        try catalog.disable("Photos")
        let data = shelf.folder / "user/handler-data/org.example.photos"
        try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
        try shelf.launches.note(try identifier("photos"), version: "1")
        let removal = try catalog.remove("org.example.photos")
        #expect(removal.path == path)
        #expect(removal.dataFolder == data && FileManager.default.fileExists(atPath: data), "it is kept")
        #expect(!shelf.launches.isDone(try identifier("photos"), version: "1"), "it is asked again if it comes back")
        #expect(userFolder == ["Other.handler"])
        #expect(catalog.load().choices == UserChoices(typeDefaults: [.jpeg: try identifier("other")]))
        #expect(FileManager.default.fileExists(atPath: kept))
        #expect(FileManager.default.fileExists(atPath: shelf.machine + "/Machine.handler/run"))
    }

    @Test("a link to a bundle is removed, the bundle is not")
    func removesLink() throws {
        let real = try shelf.write("Real", Shelf.keys("org.example.real"), in: shelf.folder.path)
        symlink(real, shelf.user + "/Linked.handler")
        try catalog.remove("Linked")
        #expect(userFolder == [])
        #expect(FileManager.default.fileExists(atPath: real + "/run"))
    }

    @Test("a broken bundle, or one that another hides, is removed by its folder's name")
    func removesBroken() throws {
        try shelf.write("Broken", info: nil)
        try catalog.remove("Broken.handler")
        #expect(userFolder == [])
        try shelf.write("One", Shelf.keys("org.example.same"))
        try catalog.disable("One")
        try shelf.write("Two", Shelf.keys("org.example.same"))
        let hidden = try #require(catalog.load().problems.first { $0.severity == .unusable }).name
        try catalog.remove(hidden)
        #expect(userFolder == [hidden == "Two" ? "One.handler" : "Two.handler"])
        #expect(catalog.load().choices.disabled.count == 1)
    }

    @Test("choices outlive a handler whose identifier another has")
    func choicesOfAnother() throws {
        try shelf.write("Mine", Shelf.opening("org.example.same", "public.image"))
        try shelf.write("Theirs", Shelf.opening("org.example.same", "public.image"), in: shelf.distribution)
        try catalog.setDefault("Mine", for: .image)
        try catalog.remove("Mine")
        #expect(catalog.load().claimants(of: .jpeg).first?.boundType == .image)
    }

    @Test("only handlers in the user's own folder can be removed")
    func notYours() throws {
        let path = try shelf.write("Theirs", Shelf.keys("org.example.t"), in: shelf.machine)
        for (name, code) in [("Theirs", CatalogError.Code.notYours), ("inbox", .notYours), ("nobody", .unknownHandler)]
        {
            do {
                try catalog.remove(name)
                Issue.record("\(name) was removed")
            } catch { #expect(error.code == code) }
        }
        #expect(FileManager.default.fileExists(atPath: path))
        for name in ["..", "../../etc/handlers/Theirs", "", "/"] {
            #expect(throws: CatalogError.self) { try catalog.remove(name) }
        }
    }
}

@Suite("Remains of a failed installation")
struct FailedAddingTests {
    @Test("nothing, not even the folder of the user's handlers")
    func nothing() throws {
        let shelf = Shelf()
        try FileManager.default.removeItem(atPath: shelf.user)
        let program = shelf.folder / "p"
        Shelf.writeProgram(program)
        for recipe in [
            HandlerRecipe(name: "../x", types: ["public.image"], run: program),
            HandlerRecipe(name: "x", types: ["nonsense"], run: program),
            HandlerRecipe(name: "x", types: ["public.image"], run: program + ".not"),
            HandlerRecipe(name: "x", types: ["public.image"], run: program, writable: [program]),
        ] {
            #expect(throws: CatalogError.self) { try shelf.catalog().add(recipe) }
        }
        #expect(!FileManager.default.fileExists(atPath: shelf.user))
        #expect(!FileManager.default.fileExists(atPath: shelf.choices))
    }

    @Test("a program that others may change is not run where it lies, but can be copied")
    func trust() throws {
        let shelf = Shelf()
        let program = shelf.folder / "p"
        Shelf.writeProgram(program, mode: 0o777)
        var recipe = HandlerRecipe(name: "x", types: ["public.image"], run: program, copying: false)
        let error = #expect(throws: CatalogError.self) { try shelf.catalog().add(recipe) }
        #expect(error?.description.contains("everyone may write to it") == true)
        recipe.copying = true
        try shelf.catalog().add(recipe)
        #expect(shelf.catalog().load().identifiers == ["org.waft.local.x"])
    }
}
