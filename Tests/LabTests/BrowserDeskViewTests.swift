import Foundation
import Subprocess
import Testing

extension BrowserDeskTests {
    /// The other views, and all views for everybody.
    @Suite("Views of the desk")
    struct Views {
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
                    // In words for people; those of the program are among the details.
                    try await browser.wait(for: "It opens things of this kind.", in: "main .answer li")
                    #expect(try await !browser.text("main .answer").contains("rank"))
                    try await browser.click("main .answer .said summary")
                    try await browser.wait(for: "1 step up; rank", in: "main .answer .said")
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
                    let _: Bool = try await browser.script("document.querySelector('#who').value = ''; return true")
                    try await browser.type("photo.jpg", into: "#who")
                    try await browser.press("Enter")
                    try await browser.wait(for: "Not asked: 1", in: "main .answer")
                    try await browser.click("main .answer details summary")
                    try await browser.wait(for: "It is switched off.", in: "main .answer")
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
