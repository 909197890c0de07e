import Foundation
import Subprocess
import Testing

extension BrowserDeskTests {
    /// The actions of people in the room: invite, pair, begin to receive.
    @Suite("The room of the desk")
    struct Room {
        @Test("two people who press Pair at each other's face become contacts, if both say that the words are the same")
        func pairing() async throws {
            try await DeskStage.take { stage in
                let (browser, study) = (stage.browser, try stage.host("study"))
                try await stage.withDesk { desk, receiver in
                    try await study.withReceiver(Programs.waftd, []) { other in
                        try await study.becomeVisible()
                        try await study.withBrowser(.firefox, folder: stage.folder + "/firefox") { firefox in
                            try await study.withDesk(firefox) { otherDesk in
                                try await desk.click("pair-\(other.id)", in: "main")
                                try await browser.wait(for: "Waiting for the other side", in: "#ask")
                                try await otherDesk.click("pair-\(receiver.id)", in: "main")
                                for one in [browser, firefox] {
                                    try await one.wait("document.querySelector('#ask .ready .digits') !== null")
                                }
                                #expect(try await browser.text("#ask .digits") == firefox.text("#ask .digits"))
                                // No key that is pressed without a look confirms them.
                                let focus = "return document.activeElement.dataset.key ?? 'no button'"
                                #expect(try await browser.script(focus) == "no button")
                                for one in [desk, otherDesk] { try await one.click("yes", in: "#ask") }
                                for one in [browser, firefox] {
                                    try await one.wait("document.querySelector('#ask .good') !== null")
                                }
                            }
                        }
                        #expect(study.contactsFile.contains(receiver.id))
                        #expect(desk.host.contactsFile.contains(other.id))
                        try await browser.press("Escape")
                        try await browser.wait("document.querySelector('main .mark.proved') !== null")
                    }
                }
            }
        }

        @Test("another machine that comes while two people pair gets a no, and the window goes on to wait")
        func otherMachine() async throws {
            try await DeskStage.take { stage in
                let (browser, attic) = (stage.browser, try stage.host("attic"))
                try await stage.withDesk { desk, receiver in
                    try await stage.host("study").withReceiver { study in
                        try await desk.click("pair-\(study.id)", in: "main")
                        try await browser.wait(for: "Waiting for the other side", in: "#ask")
                        let words = ["pair", DeskStage.kitchen(receiver), "--answer-fd", "0", "--json"]
                        // The window asks and waits in turn.
                        try await eventually {
                            let outcome = try await attic.run(Programs.waft, words, input: "y\n")
                            #expect(outcome.exit != 0, "\(outcome)")
                            return outcome.output.contains("\"compare\"")
                        }
                        try await browser.wait(for: "Waiting for the other side", in: "#ask")
                        #expect(try await browser.script("return !document.querySelector('#ask .digits')"))
                        #expect(try await !desk.host.contactsFile.contains(attic.ownID()))
                    }
                }
            }
        }

        @Test("a phone is invited by a code, and its page closes with the dialog")
        func invitation() async throws {
            try await DeskStage.take { stage in
                let (browser, study) = (stage.browser, try stage.host("study"))
                try await stage.withDesk { desk, _ in
                    try await desk.click("showCode", in: "main .nobody")
                    try await browser.wait("document.querySelector('#ask svg.qr') !== null")
                    let shown = try await browser.text("#ask")
                    let address = try #require(shown.firstMatch(of: /https:\/\/\S+/)?.output)
                    let curl = ["-k", "-s", "-o", "/dev/null", "-w", "%{http_code}", String(address)]
                    #expect(try await study.run("/usr/bin/curl", curl).output == "200", "\(address)")
                    try await browser.click("#ask .end button")
                    try await eventually { try await study.run("/usr/bin/curl", curl).output == "000" }
                }
            }
        }

        @Test("the window starts a receiver that goes on when the desk has ended")
        func start() async throws {
            try await DeskStage.take { stage in
                let (browser, kitchen) = (stage.browser, try stage.host("kitchen"))
                try await kitchen.withDesk(browser) { desk in
                    try await desk.click("startNow", in: "main .starts")
                    try await browser.wait("!document.querySelector('#seen').hidden")
                    try await browser.wait("document.querySelector('main .starts').hidden")
                }
                let status = try await kitchen.status()
                #expect(status.visibility == "contacts")
                kill(pid_t(status.processID), SIGTERM)
                try await eventually { try await kitchen.run(arguments: ["status"]).exit == 69 }
            }
        }

        @Test(
            "what arrived is told with its picture and shown at a click, and offers of strangers are declined together")
        func arrival() async throws {
            try await DeskStage.take { stage in
                let (browser, study, attic) = (stage.browser, try stage.host("study"), try stage.host("attic"))
                for name in ["a.txt", "b.txt", "c.txt"] { try stage.write(name, Data(name.utf8)) }
                try await stage.withDesk { desk, receiver in
                    let address = DeskStage.kitchen(receiver)
                    try await study.offering(["a.txt"], to: address, in: stage.folder) { sending in
                        try await desk.answerQuestion("accept")
                        try await sending.transcript.says("stored as a.txt")
                        try await browser.wait(for: "1 item arrived", in: "#toasts .toast")
                        try await browser.wait(for: "1 item arrived", in: "#live")
                        // The card may still be rising.
                        let _: Bool = try await browser.script(
                            "document.querySelector('#toasts .row button:nth-child(2)').click(); return true")
                        try await browser.wait(for: "a.txt", in: "#preview")
                        try await browser.press("Escape")
                    }
                    try await study.offering(["c.txt"], to: address, in: stage.folder) { first in
                        try await attic.offering(["b.txt"], to: address, in: stage.folder) { second in
                            try await browser.wait(for: "2 offers wait", in: "#question .place")
                            // Escape puts questions aside, and the bar brings them back.
                            try await browser.press("Escape")
                            try await browser.wait("!document.querySelector('#question').open")
                            try await browser.click("#asking")
                            try await desk.openMoreAnswers()
                            try await desk.click("declineStrangers", in: "#question")
                            for one in [first, second] { try await one.transcript.says("declined") }
                            try await browser.wait("!document.querySelector('#question').open")
                        }
                    }
                }
            }
        }
    }
}
