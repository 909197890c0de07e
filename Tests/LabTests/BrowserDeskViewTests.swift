import Foundation
import Subprocess
import Testing

extension BrowserDeskTests {
    /// The other views, and all views for everybody.
    @Suite("Views of the desk")
    struct Views {
        private static let all = [
            "room", "transfers", "inbox", "history", "contacts", "handlers", "settings",
        ]

        /// The faults of the page as it is now, by the rules of `Tests/Browsers/rules.js`, in light and dark.
        /// - Parameter previews: their address.
        private func faults(_ browser: Browser, previews: String) async throws -> [String] {
            let origin = previews.split(separator: "/").prefix(2).joined(separator: "//")
            let rules = try String(contentsOfFile: Browser.scripts + "rules.js", encoding: .utf8)
            // Of each fault the windows that have it.
            var places: [String: [String]] = [:]
            for (width, height, isPhone, pixels) in [(360, 640, true, 40), (1_280, 900, false, 24)] {
                try await browser.setWindow(width, height, isPhone: isPhone)
                for scheme in ["light", "dark"] {
                    try await browser.setColors(scheme)
                    let found: [String] = try await browser.script(
                        "const pixels = \(pixels), friends = ['\(origin)'];\n" + rules)
                    for fault in found { places[fault, default: []].append("\(width) \(scheme)") }
                }
            }
            // The list of the Inbox places its options itself.
            let faults = places.filter { fault, _ in
                !fault.contains("attribute style: #option") && !fault.contains("attribute style: <div class=\"space")
            }.map { "\($0) (\($1.joined(separator: ", ")))" }
            // The main part gets the focus when a view is opened.
            let nameless = try await browser.controls().filter { $0.last?.isEmpty != false && $0.first != "main" }
            return (faults + nameless.map { "without a name: \($0)" }).sorted()
        }

        @Test(
            "each view can be read, heard and touched, in light and dark, narrow and wide, and nothing is wider than the window"
        )
        func accessible() async throws {
            try await DeskStage.take { stage in
                let (browser, study, attic) = (stage.browser, try stage.host("study"), try stage.host("attic"))
                let name = "a file with a long name, as people give it to a file.txt"
                try stage.write(name, Data("hello".utf8))
                try stage.write("b.txt", Data("b".utf8))
                try await stage.withDesk(contacts: ["study"], policy: "accept") { desk, receiver in
                    let address = DeskStage.kitchen(receiver)
                    let sent = try await study.run(Programs.waft, ["send", name, "--to", address], in: stage.folder)
                    #expect(sent.exit == 0, "\(sent.errors)")
                    let previews = try await desk.previews()
                    try await attic.withReceiver { _ in
                        try await attic.offering([name, "b.txt"], to: address, in: stage.folder) { _ in
                            try await browser.wait(for: ") offers", in: "#question")
                            try await browser.wait("document.querySelector('main .peer:not(.away, .invites)') !== null")
                            try await desk.openMoreAnswers()
                            let question = try await faults(browser, previews: previews)
                            #expect(question.isEmpty, "the question")
                            try await browser.press("Escape")
                            try await browser.wait("!document.querySelector('#question').open")
                            for view in Self.all {
                                try await desk.show(view)
                                switch view {
                                case "transfers":
                                    try await browser.wait("document.querySelector('main .transfer') !== null")
                                case "inbox":
                                    try await browser.wait("document.querySelector('main [role=option] bdi') !== null")
                                    try await browser.click("main [role=option] bdi")
                                    try await browser.wait("document.querySelector('aside.pane dl') !== null")
                                case "history":
                                    try await browser.wait("document.querySelector('main .things a') !== null")
                                case "contacts":
                                    try await browser.wait("document.querySelector('main .card details') !== null")
                                case "handlers":
                                    try await browser.wait("document.querySelector('main li.card') !== null")
                                case "settings":
                                    try await browser.wait("document.querySelector('main .setting') !== null")
                                default: break
                                }
                                let found = try await faults(browser, previews: previews)
                                #expect(found.isEmpty, "\(view)")
                            }
                            try await desk.show("room")
                            try await browser.click("main .peer:not(.away, .invites)")
                            let found = try await faults(browser, previews: previews)
                            #expect(found.isEmpty, "the sheet")
                            try await browser.press("Escape")
                            try await browser.wait("!document.querySelector('#sheet').open")
                        }
                    }
                }
            }
        }

        @Test("by keys alone a text is sent and a question answered, and the focus is always seen")
        func keyboard() async throws {
            try await DeskStage.take { stage in
                let (browser, study) = (stage.browser, try stage.host("study"))
                try stage.write("a.txt", Data("a".utf8))
                @Sendable func tab(to selector: String) async throws {
                    for _ in 1...60 {
                        try await browser.press("Tab")
                        let place: String = try await browser.script(
                            """
                            const e = document.activeElement, style = getComputedStyle(e), name = (e.id || e.dataset.key || e.tagName);
                            if (e.matches('\(selector)')) return "there";
                            const box = e.closest("label") ?? e, seen = [e, box].some(n => getComputedStyle(n).outlineStyle !== "none" || getComputedStyle(n).boxShadow !== "none");
                            return seen || e === document.body || e.matches("input[type=radio]") ? "" : name + " without an outline";
                            """)
                        if place == "there" { return }
                        #expect(place == "")
                    }
                    Issue.record("Tab does not reach \(selector)")
                }
                try await stage.withDesk { desk, receiver in
                    try await study.withReceiver { peer in
                        try await desk.seesPeer(peer.id)
                        try await tab(to: "main .peer")
                        try await browser.press("Enter")
                        try await browser.wait("document.querySelector('#sheet').open")
                        try await tab(to: "#sheet-text")
                        try await browser.press("h", "e", "y")
                        try await tab(to: "#sheet-go")
                        try await browser.press("Enter")
                        try await browser.wait(for: "Stored and checked there", in: "main .peer")
                        #expect(try peer.names() == ["hey.txt"])
                    }
                    try await study.offering(["a.txt"], to: DeskStage.kitchen(receiver), in: stage.folder) { sending in
                        try await browser.wait("document.querySelector('#question').open")
                        try await browser.wait("document.querySelector('#question .offer.ready') !== null")
                        try await tab(to: "[data-key=accept]")
                        try await browser.press("Enter")
                        try await sending.transcript.says("stored as a.txt")
                        // The focus is not lost with the question.
                        try await browser.wait("document.querySelector('#question .offer') === null")
                        #expect(try await browser.script("return document.activeElement !== document.body"))
                    }
                }
            }
        }

        @Test(
            "a setting that is changed in the form stands in config.yaml, and a fault in the file is shown with its line"
        )
        func settings() async throws {
            try await DeskStage.take { stage in
                let browser = stage.browser
                try await stage.withDesk { desk, _ in
                    try await desk.show("settings")
                    try await browser.wait("document.querySelector('#s-name') !== null")
                    func change(_ setting: String, _ value: String) async throws {
                        let _: Bool = try await browser.script(
                            """
                            const field = document.getElementById('s-\(setting)');
                            field.focus(); field.value = '\(value)'; field.dispatchEvent(new Event('change'));
                            return true;
                            """)
                    }
                    try await change("name", "Nook")
                    try await browser.wait(for: "Saved", in: ".setting:has(#s-name)")
                    let file = desk.host.home + "/config/config.yaml"
                    #expect(try String(contentsOfFile: file, encoding: .utf8).contains("name: Nook"))
                    try await change("port", "99999999")
                    try await browser.wait("document.getElementById('s-port-error').innerText.length > 10")
                    #expect(try String(contentsOfFile: file, encoding: .utf8).contains("99999999") == false)
                    try "name: Nook\nnonsense: 1\n".write(toFile: file, atomically: false, encoding: .utf8)
                    try await browser.wait(for: "config.yaml:2", in: "main .warning")
                }
            }
        }

        @Test(
            "the window says which handler gets a named and a dropped file, and turns it off; the history has both ways"
        )
        func handlers() async throws {
            try await DeskStage.take { stage in
                let (browser, study) = (stage.browser, try stage.host("study"))
                let kitchen = try stage.host("kitchen")
                try writeScript("#!/bin/sh\nexit 0\n", to: stage.folder + "/run.sh")
                try stage.write("a.txt", Data("a".utf8))
                let added = try await kitchen.run(arguments: [
                    "handlers", "add", "--name", "Photos", "--run", stage.folder + "/run.sh", "--type", "public.image",
                ])
                try #require(added.exit == 0, "\(added.errors)")
                try await stage.withDesk(contacts: ["study"], policy: "accept") { desk, receiver in
                    try await desk.show("handlers")
                    try await browser.type("photo.jpg", into: "#who")
                    try await browser.press("Enter")
                    try await browser.wait(for: "Photos", in: "main .answer")
                    try await browser.drop([stage.folder + "/a.txt"], on: "main .takes h2")
                    try await browser.wait(for: "stays in the Inbox", in: "main .answer")
                    try await browser.wait("document.querySelector('main li.card input[role=switch]') !== null")
                    try await browser.click("main li.card details summary")
                    try await browser.wait(for: "In a sandbox", in: "main li.card details")
                    try await browser.click("main li.card label:has(input[role=switch])")
                    try await eventually {
                        try await desk.host.run(arguments: ["handlers", "list", "--json"]).output.contains(
                            "\"enabled\":false")
                    }
                    let sent = try await study.run(
                        Programs.waft, ["send", "a.txt", "--to", DeskStage.kitchen(receiver)], in: stage.folder)
                    #expect(sent.exit == 0, "\(sent.errors)")
                    try await desk.show("history")
                    try await browser.wait(for: "a.txt", in: "main .things")
                    #expect(try await browser.text("main .things").contains("Study"))
                }
            }
        }
    }
}
