import Foundation
import Subprocess
import Testing

extension BrowserDeskTests {
    /// Transfers by spoken codes, with machines that are no contacts.
    @Suite("Codes in the desk")
    struct SpokenCodes {
        /// The code that the desk shows, which is not the one before.
        private static func shown(_ browser: Browser, after old: String = "") async throws -> String {
            let code = "document.querySelector('#ask .code')?.textContent"
            try await browser.wait("(\(code) ?? '\(old)') !== '\(old)'")
            return try await browser.script("return " + code)
        }

        /// The code that a program shows.
        private static func code(_ number: Int = 1, of program: RunningProgram) async throws -> String {
            try await program.transcript.first("a code") { text in
                let codes = text.split(separator: "\n").filter { $0.wholeMatch(of: /[0-9]+(-[a-z]+){2}/) != nil }
                return codes.count >= number ? String(codes[number - 1]) : nil
            }
        }

        private static func type(_ text: String, _ browser: Browser) async throws {
            let _: Bool = try await browser.script("document.querySelector('#ask input').value = ''; return true")
            try await browser.type(text, into: "#ask input")
        }

        @Test("one that the desk shows is taken back by Escape, tells a wrong guess, and brings what was chosen")
        func sending() async throws {
            try await DeskStage.take { stage in
                let (browser, study) = (stage.browser, try stage.host("study"))
                let path = try stage.write("plan.txt", Data("the plan\n".utf8))
                try await stage.withDesk { desk, receiver in
                    let place = ["--at", DeskStage.kitchen(receiver)]
                    try await desk.show("settings")
                    try await browser.drop(path)
                    try await browser.wait(for: "plan.txt", in: "#sheet-items")
                    try await desk.click("byCode", in: "#sheet")
                    let first = try await Self.shown(browser)
                    try await browser.press("Escape")
                    try await browser.wait("document.activeElement.dataset.key === 'byCode'")
                    try await eventually {
                        try await study.run(arguments: ["receive", first] + place).exit == 10
                    }
                    try await desk.click("byCode", in: "#sheet")
                    let second = try await Self.shown(browser, after: first)
                    let words = second.hasSuffix("-acorn-acorn") ? "adobe adobe" : "acorn acorn"
                    let guess = "\(second.prefix { $0 != "-" }) \(words)"
                    #expect(try await study.run(arguments: ["receive", guess] + place).exit == 12)
                    try await browser.wait(for: "192.168.77.2", in: "#ask .warning")
                    let third = try await Self.shown(browser, after: second)
                    let received = try await study.run(arguments: ["receive", third] + place)
                    #expect(received.exit == 0, "\(received)")
                    try await browser.wait("document.querySelector('#ask .outcome:not(.bad)') !== null")
                    try await browser.wait(for: "Stored and checked there", in: "#ask")
                    try await browser.wait("!document.querySelector('#sheet').open")
                    try await browser.click("#ask .end button")
                    #expect(try await browser.text("#toasts") == "")
                    let inbox = study.home + "/Documents/Inbox/plan.txt"
                    #expect(FileManager.default.contents(atPath: inbox) == Data("the plan\n".utf8))
                    #expect(desk.host.contactsFile.isEmpty)
                }
            }
        }

        @Test("one that is typed is known in short forms, says what is wrong with it, and brings what was sent")
        func receiving() async throws {
            try await DeskStage.take { stage in
                let (browser, study) = (stage.browser, try stage.host("study"))
                try stage.write("<b>plan.txt", Data("the plan\n".utf8))
                try await stage.withDesk(visibility: "off") { desk, receiver in
                    try await desk.click("haveCode", in: "main")
                    try await Self.type("7 pumpkn", browser)
                    try await browser.wait(for: "pumpkn is no word of a code", in: "#ask .row")
                    try await browser.click("#ask p[role=status] button")
                    try await browser.wait("document.querySelector('#ask input').value === '7-pumpkin-'")
                    try await browser.type("saus", into: "#ask input")
                    try await browser.wait(for: "7-pumpkin-sausage", in: "#ask .good")
                    try await study.withProgram(
                        Programs.waft, ["send", "<b>plan.txt", "--code"], in: stage.folder
                    ) { sending in
                        let first = try await Self.code(of: sending)
                        let number = first.prefix { $0 != "-" }
                        let words = first.hasSuffix("-acorn-acorn") ? "adobe adobe" : "acorn acorn"
                        try await Self.type("\(number) \(words)\n", browser)
                        try await browser.wait(for: "The words are wrong", in: "#ask")
                        try await browser.type("\n", into: "#ask input")
                        try await browser.wait(for: "a false machine gets another guess", in: "#ask")
                        let second = try await Self.code(2, of: sending)
                        try await Self.type(second.uppercased().replacing("-", with: "  ") + "\n", browser)
                        try await browser.wait("!document.querySelector('#ask').open")
                        try await browser.wait(for: "1 item arrived", in: "#toasts")
                        #expect(try await browser.script("return document.activeElement.dataset.key") == "haveCode")
                    }
                    #expect(try receiver.names() == ["<b>plan.txt"])
                    #expect(desk.host.contactsFile.isEmpty)
                }
            }
        }

        @Test("both ways work on a machine that does not receive otherwise")
        func bare() async throws {
            try await DeskStage.take { stage in
                let (browser, kitchen, study) = (stage.browser, try stage.host("kitchen"), try stage.host("study"))
                try stage.write("plan.txt", Data("the plan\n".utf8))
                try await kitchen.withDesk(browser) { desk in
                    try await browser.wait("!document.querySelector('main .starts').hidden")
                    try await study.withProgram(
                        Programs.waft, ["send", "plan.txt", "--code"], in: stage.folder
                    ) { sending in
                        try await desk.click("haveCode", in: "main")
                        try await Self.type(try await Self.code(of: sending) + "\n", browser)
                        try await browser.wait(for: "1 item arrived", in: "#toasts")
                    }
                    try await desk.click("sendMore", in: "main")
                    try await browser.type("back at six", into: "#sheet-text")
                    try await desk.click("byCode", in: "#sheet")
                    let received = try await study.run(arguments: ["receive", try await Self.shown(browser)])
                    #expect(received.exit == 0, "\(received)")
                    try await browser.wait("document.querySelector('#ask .outcome:not(.bad)') !== null")
                }
                #expect(try await kitchen.run(arguments: ["status"]).exit == 69)
            }
        }
    }
}
