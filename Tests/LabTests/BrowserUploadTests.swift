import Foundation
import Testing

extension BrowserTests {
    /// The uploads of a guest.
    @Suite("Uploads")
    struct Uploads {
        private static let isWhole = ProcessInfo.processInfo.environment["TEST_ALL"] != nil

        /// Chooses files, sends them, and waits until the page says that all have arrived.
        private func send(_ paths: [String], _ browser: Browser) async throws {
            try await browser.choose(paths)
            try await browser.click("#send")
            try await browser.ends()
            let list = try await browser.text("#list")
            #expect(try await browser.text("#state").hasPrefix("Done, "), "\(list)")
        }

        @Test("a file is stored once the host has said yes, and the page names it as it is stored")
        func one() async throws {
            try await BrowserStage.take { stage in
                let (browser, contents) = (stage.browser, BrowserStage.noise(300_000))
                let path = try stage.write("photo.jpg", contents)
                try await stage.kitchen(accept: "ask").withPage([], in: stage.folder) { page in
                    try await browser.enter(page)
                    try await browser.type("Anna", into: "#name")
                    for (count, name) in ["photo.jpg", "photo-1.jpg"].enumerated() {
                        try await browser.choose([path])
                        try await browser.click("#send")
                        try await browser.wait(for: "Waiting for kitchen", in: "#state")
                        try await page.event("offer", number: count + 1)
                        let offers = try await page.host.run(arguments: ["offers"])
                        #expect(offers.output.contains("Anna") && offers.output.contains("photo.jpg"), "\(offers)")
                        #expect(try page.names().count == count)
                        try await page.answer(number: count + 1)
                        try await browser.ends()
                        #expect(try await browser.text("#state") == "Done, it has arrived")
                        #expect(try await browser.text("#list").contains("Stored as \(name)"))
                        #expect(page.contents(name) == contents)
                        try await browser.click("#more")
                    }
                }
            }
        }

        @Test("five hundred files arrive")
        func many() async throws {
            try await BrowserStage.take { stage in
                let names = (1...500).map { "file \($0).txt" }
                let paths = try names.map { try stage.write($0, Data("this is \($0)".utf8)) }
                try await stage.kitchen().withPage([], in: stage.folder) { page in
                    try await stage.browser.enter(page)
                    try await send(paths, stage.browser)
                    #expect(try await stage.browser.text("#state") == "Done, all 500 have arrived")
                    #expect(try page.names() == names.sorted())
                    let wrong = names.filter { page.contents($0) != Data("this is \($0)".utf8) }
                    #expect(wrong.isEmpty)
                }
            }
        }

        @Test("a folder arrives whole, chosen or dropped", arguments: [false, true])
        func folder(isDropped: Bool) async throws {
            try await BrowserStage.take { stage in
                let files = [
                    "trip/a.txt": Data("a".utf8), "trip/empty": Data(),
                    "trip/deep/er/größe.bin": BrowserStage.noise(70_000),
                ]
                for (name, contents) in files { try stage.write(name, contents) }
                let browser = stage.browser
                try await stage.kitchen().withPage([], in: stage.folder) { page in
                    try await browser.enter(page)
                    if isDropped {
                        try await browser.drop(stage.folder + "/trip")
                    } else {
                        try await browser.chooseFolder(stage.folder + "/trip")
                    }
                    try await browser.wait(for: "Folder, 3 files", in: "#list")
                    try await browser.click("#send")
                    try await browser.wait(for: "Done, it has arrived", in: "#state")
                    #expect(try page.names() == ["trip"])
                    for (name, contents) in files { #expect(page.contents(name) == contents, "\(name)") }
                }
            }
        }

        @Test("a text and a link arrive")
        func texts() async throws {
            try await BrowserStage.take { stage in
                let browser = stage.browser
                try await stage.kitchen().withPage([], in: stage.folder) { page in
                    try await browser.enter(page)
                    try await browser.type("back at six", into: "#text")
                    try await browser.click("#send")
                    try await browser.ends()
                    try await browser.click("#more")
                    try await browser.type("https://example.org/a", into: "#text")
                    try await browser.click("#send")
                    try await browser.wait(for: "Done, it has arrived", in: "#state")
                    #expect(try await page.event("stored", number: 2).path != nil)
                    #expect(page.contents("back at six.txt") == Data("back at six".utf8))
                    let names = try page.names()
                    #expect(names.count == 2, "\(names)")
                }
            }
        }

        @Test("a large file arrives, and the page shows its progress")
        func large() async throws {
            try await BrowserStage.take { stage in
                let (browser, contents) = (stage.browser, BrowserStage.noise(Self.isWhole ? 1 << 30 : 128 << 20))
                let path = try stage.write("large.bin", contents)
                try await stage.kitchen().withPage([], in: stage.folder) { page in
                    try await browser.enter(page)
                    try await browser.choose([path])
                    try await browser.click("#send")
                    // Both at once: a moment later it may have arrived.
                    try await browser.wait(
                        "document.querySelector('#bar').value > 0.3 && /\\sof\\s/.test(document.querySelector('#figures').innerText)"
                    )
                    try await browser.ends()
                    #expect(page.contents("large.bin") == contents)
                }
            }
        }

        @Test("a declined offer is said, and leaves nothing")
        func declined() async throws {
            try await BrowserStage.take { stage in
                let (browser, path) = (stage.browser, try stage.write("a.txt", Data("hello".utf8)))
                try await stage.kitchen(accept: "ask").withPage([], in: stage.folder) { page in
                    try await browser.enter(page)
                    try await browser.choose([path])
                    try await browser.click("#send")
                    try await page.answer("decline")
                    try await browser.ends()
                    #expect(try await browser.text("#state") == "kitchen declined")
                    #expect(try await browser.text("#list").contains("Declined"))
                    #expect(try page.names().isEmpty)
                }
            }
        }

        @Test("a type that the host does not take is said before anybody is asked and before a byte moves")
        func ineligible() async throws {
            try await BrowserStage.take { stage in
                let browser = stage.browser
                let paths = [
                    try stage.write("report.pdf", Data("%PDF-1.4".utf8)), try stage.write("photo.png", png),
                ]
                let kitchen = stage.kitchen(accept: "ask", ["WAFT_ELIGIBILITY": "handlers"])
                try writeScript("#!/bin/sh\nexit 0\n", to: stage.folder + "/run.sh")
                let added = try await kitchen.run(arguments: [
                    "handlers", "add", "--name", "Photos", "--run", stage.folder + "/run.sh", "--type", "public.image",
                ])
                try #require(added.exit == 0, "\(added.errors)")
                try await kitchen.withPage([], in: stage.folder) { page in
                    try await browser.enter(page)
                    try await browser.choose([paths[0]])
                    try await browser.click("#send")
                    try await browser.ends()
                    #expect(try await browser.text("#list").contains("Such things are not accepted here"))
                    #expect(try await browser.text("#list").contains("no handler here opens com.adobe.pdf"))
                    #expect(await page.count("offer") == 0)
                    try await browser.click("#more")
                    // Beside one that is taken.
                    try await browser.choose(paths)
                    try await browser.click("#send")
                    try await page.answer()
                    try await browser.wait(for: "1 of 2 have arrived", in: "#state")
                    #expect(try page.names() == ["photo.png"])
                    let loaded: [String] = try await browser.script(
                        "return performance.getEntriesByType('resource').map((e) => e.name).filter((n) => n.includes('/files/'))"
                    )
                    #expect(loaded.count == 1, "\(loaded)")
                }
            }
        }

        @Test("a file whose connection is cut in the middle goes on by itself when the network is back, and is whole")
        func cut() async throws {
            try await BrowserStage.take { stage in
                let (browser, contents) = (stage.browser, BrowserStage.noise(64 << 20))
                let path = try stage.write("large.bin", contents)
                try await stage.lab.call(["rate", stage.lab.name, "study", "80mbit"])
                try await stage.kitchen().withPage([], in: stage.folder) { page in
                    try await browser.enter(page)
                    try await browser.choose([path])
                    try await browser.click("#send")
                    try await browser.wait("document.querySelector('#bar').value > 0.15")
                    try await stage.lab.call(["link", stage.lab.name, "study", "down"])
                    try await browser.wait(for: "The connection is lost", in: "#state")
                    try await stage.lab.call(["rate", stage.lab.name, "study", "off"])
                    try await stage.lab.call(["link", stage.lab.name, "study", "up"])
                    try await browser.ends()
                    #expect(try await browser.text("#state") == "Done, it has arrived")
                    #expect(page.contents("large.bin") == contents)
                    // The bytes before the cut were not sent again.
                    let offsets: [String] = try await browser.script(
                        """
                        return performance.getEntriesByType("resource").map((e) => e.name.match(/offset=(\\d+)/)?.[1])
                            .filter(Boolean)
                        """)
                    #expect(offsets.count { $0 == "0" } == 1, "\(offsets)")
                }
            }
        }

        @Test("without TLS a file arrives too, and the page warns of listeners")
        func plain() async throws {
            try await BrowserStage.take { stage in
                let (browser, path) = (stage.browser, try stage.write("a.txt", Data("hello".utf8)))
                try await stage.kitchen().withPage(["--plain"], in: stage.folder) { page in
                    #expect(page.url.hasPrefix("http://") && page.facts.plain == true && page.facts.fingerprint == nil)
                    try await browser.enter(page)
                    #expect(try await browser.text("#plain").contains("not encrypted"))
                    try await send([path], browser)
                    #expect(page.contents("a.txt") == Data("hello".utf8))
                }
            }
        }
    }
}
