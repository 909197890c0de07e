import Foundation
import Testing

extension BrowserTests {
    /// The downloads of a guest.
    @Suite("Downloads")
    struct Downloads {
        /// Python's own reader of ZIPs: prints each name and the sum of its contents.
        private static let list = """
            import hashlib, json, sys, zipfile
            with zipfile.ZipFile(sys.argv[1]) as file:
                assert file.testzip() is None
                print(json.dumps({i.filename: hashlib.sha256(file.read(i)).hexdigest() for i in file.infolist()}))
            """
        private static let sum =
            "import hashlib, sys; print(hashlib.sha256(open(sys.argv[1], 'rb').read()).hexdigest())"

        private static let tree = [
            "Fotos für Zoë/großes Bild.bin": BrowserStage.noise(200_000), "Fotos für Zoë/日本/写真.txt": Data("写真".utf8),
            "Fotos für Zoë/שלום.txt": Data("shalom".utf8), "Fotos für Zoë/empty": Data(),
        ]

        /// Clicks a link, and waits for the file.
        private func fetch(_ name: String, by selector: String, _ stage: BrowserStage, _ page: GuestPage) async throws
            -> String
        {
            let path = stage.browser.downloads + "/" + name
            try? FileManager.default.removeItem(atPath: path)
            try await stage.browser.click(selector)
            try await page.event("fetched") { $0.name == name && $0.whole == true }
            try await eventually { FileManager.default.fileExists(atPath: path) }
            return path
        }

        private func python(_ code: String, _ path: String) async throws -> String {
            let result = try await Host(home: "/").run("/usr/bin/python3", ["-c", code, path])
            try #require(result.exit == 0, "\(result.errors)")
            return result.output.trimmingCharacters(in: .newlines)
        }

        @Test("a file is fetched by a click")
        func file() async throws {
            try await BrowserStage.take { stage in
                let contents = BrowserStage.noise(3_000_000)
                try stage.write("größe & co.bin", contents)
                try await stage.kitchen().withPage(["größe & co.bin", "--no-receive"], in: stage.folder) { page in
                    #expect(page.facts.receives == false)
                    try await stage.browser.open(page.url)
                    try await stage.browser.wait("document.querySelector('#shared a') !== null")
                    #expect(try await stage.browser.text("#give").isEmpty)
                    let path = try await fetch("größe & co.bin", by: "#shared a", stage, page)
                    #expect(FileManager.default.contents(atPath: path) == contents)
                }
            }
        }

        @Test("a part of a file is fetched by its range")
        func range() async throws {
            try await BrowserStage.take { stage in
                let contents = BrowserStage.noise(500_000)
                try stage.write("a.bin", contents)
                try await stage.kitchen().withPage(["a.bin"], in: stage.folder) { page in
                    let address = "\(page.address)u/\(page.secret)/1"
                    let part = try await stage.curl(["-r", "1000-400999", "-o", "part", "-w", "%{http_code}", address])
                    #expect(part.output == "206", "\(part.errors)")
                    let got = FileManager.default.contents(atPath: stage.folder + "/part")
                    #expect(got == contents[1_000..<401_000])
                    // The rest of a download that broke off.
                    let rest = try await stage.curl(["-C", "-", "-o", "part", "-w", "%{http_code}", address])
                    #expect(rest.output == "206")
                    #expect(FileManager.default.contents(atPath: stage.folder + "/part")?.count == 400_000 + 100_000)
                }
            }
        }

        @Test("a folder, and all items together, are fetched as ZIPs that others read, with names of any script")
        func archive() async throws {
            try await BrowserStage.take { stage in
                for (name, contents) in Self.tree { try stage.write(name, contents) }
                try stage.write("a.txt", Data("hello".utf8))
                try await stage.kitchen().withPage(["Fotos für Zoë", "a.txt"], in: stage.folder) { page in
                    try await stage.browser.enter(page)
                    let one = try await fetch("Fotos für Zoë.zip", by: "#shared .tree a", stage, page)
                    let all = try await fetch("all.zip", by: "#all a", stage, page)
                    for (path, more) in [(one, [:]), (all, ["a.txt": Data("hello".utf8)])] {
                        let tested = try await Host(home: "/").run("/usr/bin/unzip", ["-tq", path])
                        #expect(tested.exit == 0, "\(tested.output) \(tested.errors)")
                        let sums = try JSONDecoder().decode(
                            [String: String].self, from: Data(try await python(Self.list, path).utf8))
                        let files = Self.tree.merging(more) { $1 }
                        #expect(Set(sums.keys.filter { !$0.hasSuffix("/") }) == Set(files.keys))
                        for name in files.keys {
                            #expect(sums[name] == (try await python(Self.sum, stage.folder + "/" + name)), "\(name)")
                        }
                    }
                }
            }
        }
    }

    /// Guests with a browser that runs no script, or with a program for a terminal.
    @Suite("Without script")
    struct Scriptless {
        @Test("the form sends a file and waits for the host, and a link fetches one")
        func form() async throws {
            try await BrowserStage.take { stage in
                let (browser, contents) = (stage.browser, BrowserStage.noise(1_000_000))
                let path = try stage.write("photo.jpg", contents)
                try stage.write("a.txt", Data("hello".utf8))
                try await browser.allowScripts(false)
                try await stage.kitchen(accept: "ask").withPage(["a.txt"], in: stage.folder) { page in
                    try await browser.open(page.url)
                    try await browser.wait("document.querySelector('#file')?.checkVisibility()")
                    #expect(try await browser.text("#give").contains("Without JavaScript"))
                    try await browser.choose([path])
                    async let clicked: Void = browser.click("#send")
                    try await page.answer()
                    try await clicked
                    try await browser.wait(for: "Stored as photo.jpg", in: "#notice")
                    #expect(page.contents("photo.jpg") == contents)
                    try await browser.click("#shared a")
                    try await page.event("fetched") { $0.name == "a.txt" && $0.whole == true }
                    try await eventually {
                        FileManager.default.contents(atPath: browser.downloads + "/a.txt") == Data("hello".utf8)
                    }
                }
                try await browser.allowScripts(true)
            }
        }

        @Test("curl -T sends a file, is told where it is stored, and a no is an error")
        func sending() async throws {
            try await BrowserStage.take { stage in
                let contents = BrowserStage.noise(2_000_000)
                try stage.write("photo.jpg", contents)
                try await stage.kitchen(accept: "ask").withPage([], in: stage.folder) { page in
                    let address = "\(page.address)u/\(page.secret)/"
                    async let accepted = stage.curl(["-T", "photo.jpg", address])
                    try await page.answer()
                    #expect(try await accepted.output == "stored as photo.jpg\n")
                    #expect(page.contents("photo.jpg") == contents)
                    async let declined = stage.curl(["--fail-with-body", "-T", "photo.jpg", address + "second.jpg"])
                    try await page.answer("decline", number: 2)
                    let result = try await declined
                    #expect(result.exit == 22 && result.output.contains("declined"), "\(result)")
                    #expect(try page.names() == ["photo.jpg"])
                }
            }
        }

        @Test("curl lists the items, and curl -OJ fetches one under its name")
        func fetching() async throws {
            try await BrowserStage.take { stage in
                let contents = BrowserStage.noise(2_000_000)
                try stage.write("photo one.jpg", contents)
                try stage.write("trip/a.txt", Data("hello".utf8))
                try await stage.kitchen().withPage(["photo one.jpg", "trip"], in: stage.folder) { page in
                    let address = "\(page.address)u/\(page.secret)"
                    let list = try await stage.curl([address])
                    let lines = list.output.split(separator: "\n")
                    #expect(
                        lines.count == 2 && lines[0].hasSuffix("photo one.jpg") && lines[0].hasPrefix("1"), "\(list)")
                    let fetched = try await stage.curl(["-OJ", "--output-dir", "got", "--create-dirs", address + "/1"])
                    #expect(fetched.exit == 0, "\(fetched.errors)")
                    #expect(FileManager.default.contents(atPath: stage.folder + "/got/photo one.jpg") == contents)
                    let wrong = try await stage.curl([
                        "-o", "/dev/null", "-w", "%{http_code}", "\(page.address)u/wrong/1",
                    ])
                    #expect(wrong.output == "404")
                }
            }
        }
    }
}
