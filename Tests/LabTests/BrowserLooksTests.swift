import Foundation
import Testing

extension BrowserTests {
    /// The look and the sound of the page. Another browser and another language take its main way.
    @Suite("The page for everybody")
    struct Looks {
        /// The faults of the page as it is now, by the rules of `Tests/Browsers/rules.js`, in light and dark.
        private func faults(_ browser: Browser) async throws -> [String] {
            let rules = try String(contentsOfFile: Browser.scripts + "rules.js", encoding: .utf8)
            var faults: [String] = []
            for scheme in ["light", "dark"] {
                try await browser.setColors(scheme)
                let found: [String] = try await browser.script(rules)
                faults += found.map { "\(scheme): \($0)" }
            }
            let nameless = try await browser.controls().filter { $0.last?.isEmpty != false }
            return faults + nameless.map { "without a name: \($0)" }
        }

        @Test(
            "each state of the page can be read, heard and touched, in light and dark",
            arguments: [(320, 600, true), (1280, 800, false)])
        func accessible(width: Int, height: Int, isPhone: Bool) async throws {
            try await BrowserStage.take { stage in
                let (browser, kitchen) = (stage.browser, stage.kitchen(accept: "ask"))
                try stage.write("trip/a.txt", Data("hello".utf8))
                let path = try stage.write(
                    "a file with a long name, as people give it to a file.bin", BrowserStage.noise(9_000_000))
                try await browser.setWindow(width, height, isPhone: isPhone)
                try await kitchen.withPage(["trip", path], in: stage.folder) { page in
                    try await browser.open(page.address)
                    #expect(try await faults(browser) == [], "at the door")
                    try await browser.enter(page)
                    #expect(try await faults(browser) == [], "at first")
                    try await browser.choose([path])
                    try await browser.chooseFolder(stage.folder + "/trip")
                    try await browser.type("hello", into: "#text")
                    #expect(try await faults(browser) == [], "with chosen items")
                    try await stage.lab.call(["rate", stage.lab.name, "study", "20mbit"])
                    try await browser.click("#send")
                    try await browser.wait(for: "Waiting for kitchen", in: "#state")
                    #expect(try await faults(browser) == [], "while the host is asked")
                    try await page.answer()
                    try await browser.wait("document.querySelector('#bar').value > 0.1")
                    #expect(try await faults(browser) == [], "while files go")
                    try await stage.lab.call(["rate", stage.lab.name, "study", "off"])
                    try await browser.ends()
                    #expect(try await faults(browser) == [], "at the end")
                }
                try await browser.setWindow(1_280, 900, isPhone: false)
            }
        }

        @Test("the rules of the test above see faults")
        func rules() async throws {
            try await BrowserStage.take { stage in
                let browser = stage.browser
                try await stage.kitchen().withPage([], in: stage.folder) { page in
                    try await browser.enter(page)
                    let _: Bool = try await browser.script(
                        """
                        const add = (tag, facts) => document.querySelector("main").append(Object.assign(document.createElement(tag), facts));
                        add("input", { id: "nameless" });
                        add("p", { id: "pale", textContent: "pale", className: "banner" });
                        document.styleSheets[0].insertRule("#pale { color: #999 !important; background: #888 !important; }");
                        add("button", { id: "small", textContent: "x" });
                        document.styleSheets[0].insertRule("#small { min-block-size: 0; padding: 0; }");
                        document.documentElement.lang = "";
                        return true;
                        """)
                    let faults = try await faults(browser).filter { $0.hasPrefix("light") || $0.hasPrefix("without") }
                    #expect(faults.contains { $0.contains("no label: #nameless") }, "\(faults)")
                    #expect(faults.contains { $0.contains("contrast") && $0.contains("#pale") }, "\(faults)")
                    #expect(faults.contains { $0.contains("pixels: #small") }, "\(faults)")
                    #expect(faults.contains { $0.contains("no language") }, "\(faults)")
                }
            }
        }

        @Test("the key Tab reaches all controls, and shows where it is")
        func keyboard() async throws {
            try await BrowserStage.take { stage in
                let browser = stage.browser
                try stage.write("a.txt", Data("hello".utf8))
                try await stage.kitchen().withPage(["a.txt"], in: stage.folder) { page in
                    try await browser.enter(page)
                    var places: [String] = []
                    for _ in 1...6 {
                        try await browser.pressTab()
                        places.append(
                            try await browser.script(
                                """
                                const e = document.activeElement, hasOutline = getComputedStyle(e).outlineStyle !== "none";
                                return (e.id || e.tagName) + (hasOutline ? "" : " without an outline");
                                """))
                    }
                    #expect(places == ["A", "add-files", "add-folder", "text", "name", "send"])
                }
            }
        }

        @Test("in Firefox and in German a file goes each way")
        func firefox() async throws {
            try await BrowserStage.take { stage in
                let contents = BrowserStage.noise(9_000_000)
                let path = try stage.write("photo.jpg", contents)
                try stage.write("a.txt", Data("hello".utf8))
                try await stage.kitchen(accept: "ask").withPage(["a.txt"], in: stage.folder) { page in
                    try await stage.study.withBrowser(.firefox, folder: stage.folder + "/firefox", language: "de") {
                        browser in
                        try await browser.enter(page)
                        try await browser.type("Jörg", into: "#name")
                        try await browser.choose([path])
                        try await browser.click("#send")
                        try await browser.wait(for: "Warten auf kitchen", in: "#state")
                        try await page.answer()
                        try await browser.ends()
                        #expect(try await browser.text("#list").contains("photo.jpg"))
                        #expect(page.contents("photo.jpg") == contents)
                        try await browser.click("#shared a")
                        try await page.event("fetched") { $0.name == "a.txt" && $0.whole == true }
                        try await eventually {
                            FileManager.default.contents(atPath: browser.downloads + "/a.txt") == Data("hello".utf8)
                        }
                    }
                }
            }
        }
    }
}
