import Foundation
import Subprocess
import Testing

extension BrowserDeskTests {
    /// Offers that wait for an answer.
    @Suite("Questions in the window")
    struct Questions {
        @Test("an offer of a stranger is shown as the terminal names it, and a part of it is accepted into a folder")
        func some() async throws {
            try await DeskStage.take { stage in
                let (browser, study) = (stage.browser, try stage.host("study"))
                for name in ["a.txt", "b.txt", "c.txt"] { try stage.write(name, Data(name.utf8)) }
                try await stage.withDesk { desk, receiver in
                    try await study.offering(
                        ["a.txt", "b.txt", "c.txt"], to: DeskStage.kitchen(receiver), in: stage.folder
                    ) {
                        sending in
                        try await browser.wait(for: ") offers 3 items", in: "#question")
                        #expect(try await browser.script("return document.title.startsWith('(1) ')"))
                        try await browser.wait("document.querySelector('#question .offer') !== null")
                        let question = try await browser.text("#question .offer")
                        #expect(question.contains("stranger study (") && question.contains("15 bytes"), "\(question)")
                        let start = try await String(study.ownID().prefix(4))
                        #expect(question.contains(start) && question.contains("proves nothing"), "\(question)")
                        try await desk.openMoreAnswers()
                        try await browser.click("#question .offer li:nth-child(2) input[type=checkbox]")
                        #expect(try await browser.text("#question [data-key=accept]") == "Accept 2 of 3")
                        try await browser.type(
                            "Notes/2026", into: "#question .offer details input:not([type=checkbox])")
                        try await desk.answerQuestion("accept")
                        try await sending.transcript.says("): declined")
                        try await sending.transcript.says("): stored")
                        try await browser.wait(
                            "document.querySelector('#question .offer') === null && !document.querySelector('#question').open"
                        )
                        let folder = receiver.inbox + "/Notes/2026"
                        #expect(
                            try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["a.txt", "c.txt"])
                    }
                }
            }
        }

        @Test("a declined offer leaves nothing, and with the block its sender is not heard again")
        func decline() async throws {
            try await DeskStage.take { stage in
                let (browser, study) = (stage.browser, try stage.host("study"))
                try stage.write("a.txt", Data("a".utf8))
                try await stage.withDesk { desk, receiver in
                    for key in ["decline", "declineBlock"] {
                        try await study.offering(["a.txt"], to: DeskStage.kitchen(receiver), in: stage.folder) {
                            sending in
                            try await browser.wait("document.querySelector('#question .offer') !== null")
                            if key == "declineBlock" { try await desk.openMoreAnswers() }
                            try await desk.answerQuestion(key)
                            try await sending.transcript.says("declined")
                            try await browser.wait("document.querySelector('#question .offer') === null")
                        }
                    }
                    #expect(try receiver.names().isEmpty)
                    let again = try await study.run(
                        Programs.waft, ["send", "a.txt", "--to", DeskStage.kitchen(receiver)], in: stage.folder)
                    #expect(again.exit != 0)
                    #expect(try await desk.host.run(arguments: ["contacts", "list"]).output.contains("study"))
                }
            }
        }

        @Test(
            "an answer in a terminal takes the question from the window, and the other way round; of two at once one counts"
        )
        func elsewhere() async throws {
            try await DeskStage.take { stage in
                let (browser, study) = (stage.browser, try stage.host("study"))
                try stage.write("a.txt", Data("a".utf8))
                try await stage.withDesk { desk, receiver in
                    let address = DeskStage.kitchen(receiver)
                    // In a terminal.
                    try await study.offering(["a.txt"], to: address, in: stage.folder) { sending in
                        try await browser.wait("document.querySelector('#question .offer') !== null")
                        let declined = try await desk.host.run(arguments: ["decline", "1"])
                        #expect(declined.exit == 0, "\(declined.errors)")
                        try await browser.wait("document.querySelector('#question .offer') === null")
                        try await sending.transcript.says("declined")
                    }
                    // In the window, while a terminal watches.
                    try await desk.host.withProgram(Programs.waft, ["offers", "--watch"], signal: .interrupt) {
                        terminal in
                        try await study.offering(["a.txt"], to: address, in: stage.folder) { sending in
                            try await terminal.transcript.says("2: ")
                            try await desk.answerQuestion("decline")
                            try await sending.transcript.says("declined")
                            try await terminal.transcript.says("declined")
                        }
                    }
                    try await browser.wait("document.querySelector('#question .offer') === null")
                    let late = try await desk.host.run(arguments: ["accept", "2"])
                    #expect(late.exit != 0, "\(late)")
                    // Both at once.
                    for number in 3...6 {
                        try stage.write("\(number).txt", Data("\(number)".utf8))
                        try await study.offering(["\(number).txt"], to: address, in: stage.folder) { sending in
                            try await browser.wait("document.querySelector('#question .offer') !== null")
                            async let terminal = desk.host.run(arguments: ["decline", "\(number)"])
                            // The question may be gone before the click.
                            let _: Bool = try await browser.script(
                                """
                                document.querySelector('#question .offer')?.classList.add('ready');
                                document.querySelector('#question [data-key=accept]')?.click();
                                return true
                                """)
                            let answer = try await terminal
                            let isAccepted = try await sending.transcript.first("an end") { text in
                                text.contains("stored") ? true : text.contains("declined") ? false : nil
                            }
                            #expect((answer.exit == 0) != isAccepted, "\(answer)")
                            try await browser.wait("document.querySelector('#question .offer') === null")
                        }
                    }
                }
            }
        }

        @Test("a transfer that arrives shows its progress, and its cancel is heard by the sender and stores nothing")
        func cancel() async throws {
            try await DeskStage.take { stage in
                let (browser, study) = (stage.browser, try stage.host("study"))
                try stage.write("large.bin", BrowserStage.noise(90 << 20))
                try await stage.withDesk(contacts: ["study"], policy: "accept") { desk, receiver in
                    try await desk.show("transfers")
                    try await stage.lab.call(["rate", stage.lab.name, "study", "40mbit"])
                    try await study.offering(["large.bin"], to: DeskStage.kitchen(receiver), in: stage.folder) {
                        sending in
                        try await browser.wait("document.querySelector('main .transfer progress')?.value > 0.03")
                        #expect(try await browser.text("main .transfer").contains("1 item from Study"))
                        try await browser.click("main .transfer button[aria-label^=Cancel]")
                        try await browser.wait(for: "Cancelled", in: "main .transfer")
                        try await stage.lab.call(["rate", stage.lab.name, "study", "off"])
                        try await sending.transcript.says("waft: ")
                    }
                    #expect(try receiver.names().isEmpty)
                }
            }
        }

        @Test("a contact is always accepted within the limits that the question had, and what comes then is shown")
        func always() async throws {
            try await DeskStage.take { stage in
                let (browser, study, attic) = (stage.browser, try stage.host("study"), try stage.host("attic"))
                for name in ["a.txt", "b.txt"] { try stage.write(name, Data(name.utf8)) }
                try stage.write("c.bin", BrowserStage.noise(1_000))
                try await stage.withDesk(contacts: ["study"]) { desk, receiver in
                    let address = DeskStage.kitchen(receiver)
                    try await study.offering(["a.txt"], to: address, in: stage.folder) { sending in
                        try await browser.wait(for: "Study ✓ offers 1 item", in: "#question .offer")
                        try await desk.openMoreAnswers()
                        let _: Bool = try await browser.script(
                            "document.querySelector('#question .offer select').value = 'public.plain-text'; return true"
                        )
                        // The question of a stranger waits behind it.
                        try await attic.offering(["b.txt"], to: address, in: stage.folder) { other in
                            try await browser.wait(for: "2 offers wait", in: "#question")
                            try await desk.answerQuestion("always")
                            try await sending.transcript.says("stored as a.txt")
                            try await browser.wait(for: "stranger attic", in: "#question .offer")
                            try await desk.answerQuestion("decline")
                            try await other.transcript.says("declined")
                        }
                    }
                    let second = try await study.run(
                        Programs.waft, ["send", "b.txt", "--to", address], in: stage.folder)
                    #expect(second.exit == 0, "\(second.errors)")
                    // Of another type: a question again.
                    try await study.offering(["c.bin"], to: address, in: stage.folder) { _ in
                        try await browser.wait(for: "c.bin", in: "#question .offer")
                        try await browser.press("Escape")
                        try await browser.wait("!document.querySelector('#asking').hidden")
                        try await desk.show("transfers")
                        try await browser.wait("document.querySelectorAll('main .transfer.good').length === 2")
                    }
                    #expect(try receiver.names() == ["a.txt", "b.txt"])
                }
            }
        }

        @Test("names that are markup, turn the line round or have 255 bytes are text in every view")
        func names() async throws {
            try await DeskStage.take { stage in
                let browser = stage.browser
                let study = try stage.host("study", ["WAFT_NAME": "<b id=evil>study"])
                let markup = "<img src=x id=evil onerror=window.pwned=1>.txt"
                let turned = "e\u{202E}gnp\u{200B}"
                let long = String(repeating: "x", count: 251) + ".txt"
                for name in [markup, long] { try stage.write(name, Data(name.utf8)) }
                try await stage.withDesk { desk, receiver in
                    try await browser.setWindow(360, 640, isPhone: true)
                    @Sendable func isHarmless(_ view: String, showsNames: Bool = true) async throws {
                        let facts: [String] = try await browser.script(
                            """
                            const faults = [], text = document.body.innerText;
                            if (document.querySelector("#evil") || window.pwned) faults.push("markup");
                            if (/[\\u202a-\\u202e]/.test(text)) faults.push("bidi");
                            if (document.documentElement.scrollWidth > innerWidth) faults.push("wide " + document.documentElement.scrollWidth);
                            return faults;
                            """)
                        #expect(facts.isEmpty, "\(view)")
                        guard showsNames else { return }
                        let text = try await browser.text("body")
                        #expect(text.contains("<img src=x id=evil onerror=window.pwned=1>.txt"), "\(view): \(text)")
                        #expect(text.contains(long), "\(view): \(text)")
                    }
                    try await study.offering([markup, long], to: DeskStage.kitchen(receiver), in: stage.folder) {
                        sending in
                        try await browser.wait("document.querySelector('#question .offer') !== null")
                        try await isHarmless("questions")
                        let question = try await browser.text("#question .offer h2")
                        #expect(question.contains("<b id=evil>st"), "\(question)")
                        try await desk.answerQuestion("accept")
                        try await sending.transcript.says("stored", times: 2)
                    }
                    try await browser.wait("document.querySelector('#question .offer') === null")
                    // A peer that keeps no rule of names.
                    let mallory = try stage.host("attic")
                    try await mallory.offer(naming: turned, to: DeskStage.kitchen(receiver)) {
                        try await browser.wait("document.querySelector('#question .offer') !== null")
                        let question = try await browser.text("#question .offer")
                        #expect(question.contains("stranger e"), "\(question)")
                        #expect(question.contains("Note: e\\u{202E}gnp"), "\(question)")
                        try await isHarmless("the stranger", showsNames: false)
                        try await desk.answerQuestion("decline")
                    }
                    try await desk.show("transfers")
                    try await browser.wait("document.querySelectorAll('main .transfer li').length === 2")
                    let _: Bool = try await browser.script(
                        "document.querySelector('main details').open = true; return true")
                    try await isHarmless("transfers")
                    try await desk.show("inbox")
                    try await browser.wait("document.querySelectorAll('main [role=option]').length === 2")
                    try await isHarmless("inbox")
                    try await desk.click("filters", in: "main")
                    try await isHarmless("filters")
                    try await browser.press("Escape")
                    for name in [markup, long] {
                        try await browser.wait(for: name.prefix(9).description, in: "main [role=listbox]")
                        try await desk.preview(name)
                        #expect(try await browser.script("return !document.querySelector('#evil') && !window.pwned"))
                    }
                    try await browser.press("Escape")
                    try await desk.show("history")
                    try await browser.wait("document.querySelectorAll('main .things li a').length === 2")
                    try await isHarmless("history")
                }
            }
        }
    }
}

extension Host {
    /// Offers a text as a stranger with any name and note, until the offer is answered.
    fileprivate func offer(
        naming name: String, to address: String, _ answer: @Sendable @escaping () async throws -> Void
    ) async throws {
        struct Message: Encodable, Sendable {
            var sender: [String: String]
            var annotation: [String: String]
            var items = [["name": "a.txt", "text": "a"]]
        }
        let message = Message(sender: ["name": name], annotation: ["note": name])
        let text = String(decoding: try JSONEncoder().encode(message), as: UTF8.self)
        try await withStranger("offer", key: "stranger", [address, text]) { stranger in
            try await answer()
            _ = try await stranger.event("verdict")
        }
    }
}
