import Foundation
import Subprocess
import Testing

extension BrowserDeskTests {
    /// Every view, as each browser shows it to everybody.
    @Suite("Looks of the desk")
    struct Looks {
        private static let all = [
            "room", "transfers", "inbox", "history", "contacts", "handlers", "settings",
        ]
        /// Letters from right to left, and an extension after them.
        private static let foreign = "صورة من الرحلة الطويلة إلى الجبال.txt"
        private static let long = String(repeating: "W", count: 180) + ".txt"

        /// A window in which the rules are checked.
        private struct Window {
            var width: Int
            var height = 900
            var isPhone = false
            var look = "light"
            /// Least pixels of a control.
            var pixels = 24
        }

        private static let windows = [
            Window(width: 360, height: 640, isPhone: true, pixels: 40),
            Window(width: 360, height: 640, isPhone: true, look: "dark", pixels: 40),
            Window(width: 768), Window(width: 1_280), Window(width: 1_280, look: "dark"),
            Window(width: 1_280, look: "forced"), Window(width: 2_560, height: 1_300),
            // 1280 pixels at 200 %.
            Window(width: 640, height: 450),
        ]

        /// The faults of the page as it is now, by the rules of `Tests/Browsers/rules.js`.
        /// - Parameter previews: their address.
        private func faults(_ browser: Browser, previews: String) async throws -> [String] {
            let origin = previews.split(separator: "/").prefix(2).joined(separator: "//")
            let rules = try String(contentsOfFile: Browser.scripts + "rules.js", encoding: .utf8)
            // Of each fault the windows that have it.
            var places: [String: [String]] = [:]
            let windows = Self.windows.filter {
                browser.kind == .chromium || $0.look == "light" && $0.width != 640
            }
            for window in windows {
                try await browser.setWindow(window.width, window.height, isPhone: window.isPhone)
                if browser.kind == .chromium { try await browser.setColors(window.look) }
                // A part that comes or leaves has another size.
                try await browser.wait(
                    """
                    document.getAnimations().every(each => each.playState !== "running" ||
                        each.effect.getComputedTiming().endTime === Infinity)
                    """)
                // Only Chromium can be a phone with a finger.
                let pixels = browser.kind == .chromium ? window.pixels : 24
                let found: [String] = try await browser.script(
                    "const pixels = \(pixels), friends = ['\(origin)'], colors = '\(window.look)';\n" + rules)
                for fault in found { places[fault, default: []].append("\(window.width) \(window.look)") }
            }
            // The list of the Inbox places its options itself.
            let faults = places.filter { fault, _ in
                !fault.contains("attribute style: #option") && !fault.contains("attribute style: <div class=\"space")
            }.map { "\($0) (\($1.joined(separator: ", ")))" }
            guard browser.kind == .chromium else { return faults.sorted() }
            // The main part gets the focus when a view is opened.
            let nameless = try await browser.controls().filter { $0.last?.isEmpty != false && $0.first != "main" }
            return (faults + nameless.map { "without a name: \($0)" }).sorted()
        }

        @Test(
            "each view can be read, heard and touched in both browsers, narrow and wide, in light, dark and forced colours",
            arguments: [Browser.Kind.chromium, .firefox])
        func accessible(kind: Browser.Kind) async throws {
            try await DeskStage.take { stage in
                if kind == .chromium { return try await walk(stage) }
                try await stage.host("kitchen").withBrowser(kind, folder: stage.folder + "/browser") { browser in
                    try await walk(DeskStage(lab: stage.lab, browser: browser, folder: stage.folder))
                }
            }
        }

        private func walk(_ stage: DeskStage) async throws {
            let (browser, study, attic) = (stage.browser, try stage.host("study"), try stage.host("attic"))
            try stage.write(Self.long, Data("hello".utf8))
            try stage.write(Self.foreign, Data("b".utf8))
            let named = try await attic.run(arguments: ["config", "set", "name", "غرفة المعيشة في الطابق العلوي"])
            #expect(named.exit == 0, "\(named.errors)")
            try await stage.withDesk(contacts: ["study"], policy: "accept") { desk, receiver in
                let address = DeskStage.kitchen(receiver)
                let sent = try await study.run(
                    Programs.waft, ["send", Self.long, Self.foreign, "--to", address], in: stage.folder)
                #expect(sent.exit == 0, "\(sent.errors)")
                let previews = try await desk.previews()
                try await attic.withReceiver { _ in
                    try await attic.becomeVisible()
                    try await attic.offering([Self.long, Self.foreign], to: address, in: stage.folder) { _ in
                        try await browser.wait(for: ") offers", in: "#question")
                        try await browser.wait("document.querySelector('main .peer:not(.away, .invites)') !== null")
                        try await desk.openMoreAnswers()
                        let question = try await faults(browser, previews: previews)
                        #expect(question.isEmpty, "the question")
                        let _: Bool = try await browser.script(
                            "document.querySelector('#question').dispatchEvent(new Event('cancel')); return true")
                        try await browser.wait("!document.querySelector('#question').open")
                        for view in Self.all {
                            try await desk.show(view)
                            try await fills(view, browser)
                            let found = try await faults(browser, previews: previews)
                            #expect(found.isEmpty, "\(view)")
                        }
                        try await desk.showAllSettings()
                        let all = try await faults(browser, previews: previews)
                        #expect(all.isEmpty, "all settings")
                        try await desk.show("inbox")
                        try await desk.preview(Self.foreign)
                        try await browser.wait("document.querySelector('#preview dl') !== null")
                        let preview = try await faults(browser, previews: previews)
                        #expect(preview.isEmpty, "the preview")
                        let _: Bool = try await browser.script(
                            "document.querySelector('#preview').close(); return true")
                        try await desk.show("room")
                        try await desk.click("haveCode", in: "main")
                        try await browser.type("7 s", into: "#ask input")
                        try await browser.wait("document.querySelector('#ask p[role=status] button') !== null")
                        let typed = try await faults(browser, previews: previews)
                        #expect(typed.isEmpty, "a code that is typed")
                        let _: Bool = try await browser.script("document.querySelector('#ask').close(); return true")
                        try await browser.click("main .peer:not(.away, .invites)")
                        let found = try await faults(browser, previews: previews)
                        #expect(found.isEmpty, "the sheet")
                        try await browser.type("hello", into: "#sheet-text")
                        try await browser.click("#sheet details summary")
                        try await desk.click("byCode", in: "#sheet")
                        try await browser.wait("document.querySelector('#ask .code') !== null")
                        let shown = try await faults(browser, previews: previews)
                        #expect(shown.isEmpty, "a code that is shown")
                    }
                }
            }
        }

        /// Waits until a view has its contents.
        private func fills(_ view: String, _ browser: Browser) async throws {
            let part =
                switch view {
                case "transfers": "main .transfer"
                case "inbox": "main [role=option] bdi"
                case "history": "main .things a"
                case "contacts": "main .card details"
                case "handlers": "main li.card"
                case "settings": "main .setting"
                default: "main .peer"
                }
            try await browser.wait("document.querySelector('\(part)') !== null")
        }
    }
}
