import Foundation
import Subprocess
import Testing

extension BrowserDeskTests {
    /// Contacts, and how they come to be.
    @Suite("Contacts in the window")
    struct Contacts {
        private struct Line: Decodable, Sendable {
            var event: String
            var digits: String?
            var code: String?
        }

        private static func line(_ event: String, of program: RunningProgram) async throws -> Line {
            try await program.transcript.first("the event \(event)") { text in
                text.split(separator: "\n").lazy.compactMap {
                    try? JSONDecoder().decode(Line.self, from: Data($0.utf8))
                }
                .first { $0.event == event }
            }
        }

        /// Runs a receiver in the study that waits for a machine, and chooses its face among the contacts.
        private static func pairing(
            _ desk: Desk, _ study: Host, _ browser: Browser,
            _ body: @Sendable @escaping (RunningProgram, RunningReceiver) async throws -> Void
        ) async throws {
            try await study.withReceiver(Programs.waftd, []) { other in
                try await study.becomeVisible()
                try await desk.show("contacts")
                let words = ["pair", "--accept", "--answer-fd", "0", "--json"]
                try await study.withProgram(Programs.waft, words) { terminal in
                    _ = try await Self.line("open", of: terminal)
                    try await desk.click("pairAny", in: "main")
                    try await desk.click("with-\(other.id)", in: "#ask")
                    try await browser.wait("document.querySelector('#ask .ready .digits') !== null")
                    try await body(terminal, other)
                }
            }
        }

        @Test("the face of a machine that waits is chosen among the contacts, and both show the same digits")
        func digits() async throws {
            try await DeskStage.take { stage in
                let (browser, study) = (stage.browser, try stage.host("study"))
                try await stage.withDesk { desk, receiver in
                    try await Self.pairing(desk, study, browser) { terminal, other in
                        let digits = try await Self.line("compare", of: terminal).digits
                        let seen = try await browser.text("#ask .digits").replacing(" ", with: "")
                        #expect(seen == digits && seen.count == 6, "\(seen)")
                        try await desk.click("yes", in: "#ask")
                        try await terminal.type("y\n")
                        try await browser.wait("document.querySelector('#ask .good') !== null")
                        try await terminal.transcript.says("\"paired\"")
                        #expect(desk.host.contactsFile.contains(other.id))
                    }
                    #expect(study.contactsFile.contains(receiver.id))
                    try await browser.press("Escape")
                    try await browser.wait(for: "digits compared", in: "main .cards")
                    // The focus is where it was.
                    try await browser.wait("document.activeElement.dataset.key === 'pairAny'")
                }
            }
        }

        @Test(
            "a machine is paired by the code in the window, which its QR code has too; a wrong answer to the digits makes no contact"
        )
        func code() async throws {
            try await DeskStage.take { stage in
                let (browser, study) = (stage.browser, try stage.host("study"))
                try await stage.withDesk { desk, receiver in
                    // The digits are not the same: a no.
                    try await Self.pairing(desk, study, browser) { terminal, other in
                        try await desk.click("no", in: "#ask")
                        // It may have heard of the no, and have ended.
                        try? await terminal.type("y\n")
                        try await browser.wait(for: "The other side said no", in: "#ask")
                        #expect(!desk.host.contactsFile.contains(other.id))
                    }
                    #expect(!study.contactsFile.contains(receiver.id))
                    try await desk.click("cancel", in: "#ask")
                    // By code.
                    try await desk.click("pairAny", in: "main")
                    try await browser.click("#ask summary")
                    try await desk.click("showCode", in: "#ask")
                    try await browser.wait("document.querySelector('#ask svg.qr') !== null")
                    let code = try await browser.text("#ask .digits")
                    let _: Bool = try await browser.script(
                        "document.querySelector('#ask svg.qr').scrollIntoView({block: 'center'}); return true")
                    try await browser.picture(stage.folder + "/code.png")
                    let read = try await study.run(
                        "/usr/bin/zbarimg", ["--quiet", "--raw", stage.folder + "/code.png"])
                    #expect(read.output == code + "\n", "\(read)")
                    let paired = try await study.run(
                        Programs.waft, ["pair", DeskStage.kitchen(receiver), "--code"], input: read.output)
                    #expect(paired.exit == 0, "\(paired.errors)")
                    try await browser.wait("document.querySelector('#ask .good') !== null")
                    #expect(study.contactsFile.contains(receiver.id))
                    try await browser.press("Escape")
                    try await browser.wait(for: "code typed", in: "main .cards")
                }
            }
        }

        @Test("a contact is given limits, renamed, blocked and forgotten in the window")
        func limits() async throws {
            try await DeskStage.take { stage in
                let browser = stage.browser
                try await stage.withDesk(contacts: ["study"]) { desk, _ in
                    let id = try await stage.host("study").ownID()
                    try await desk.show("contacts")
                    try await browser.wait("document.querySelector('main .cards details') !== null")
                    try await browser.click("main .cards details summary")
                    let _: Bool = try await browser.script(
                        """
                        const [policy] = document.querySelectorAll('main .cards form select');
                        policy.value = 'accept';
                        document.querySelector('main .cards form input[placeholder="5GB"]').value = '3MB';
                        return true;
                        """)
                    try await browser.click("main .cards form button[type=submit]")
                    try await browser.wait(for: "accepted without a question · at most 3", in: "main .cards")
                    #expect(desk.host.contactsFile.contains("3000000"), "\(desk.host.contactsFile)")
                    try await desk.click("rename\(id)", in: "main .cards")
                    try await desk.answer("<i>Anna")
                    try await browser.wait(for: "<i>Anna", in: "main .cards h2")
                    try await desk.click("block\(id)", in: "main .cards")
                    try await browser.wait(for: "blocked", in: "main .cards")
                    try await desk.click("unblock\(id)", in: "main .cards")
                    try await browser.wait("document.querySelector('main [data-key=\"block\(id)\"]') !== null")
                    try await desk.click("forget\(id)", in: "main .cards")
                    try await desk.answer(nil)
                    try await browser.wait("document.querySelector('main .cards .card') === null")
                    #expect(!desk.host.contactsFile.contains(id))
                }
            }
        }
    }
}
