import Foundation
import Subprocess
import Testing

extension BrowserDeskTests {
    /// The answers of handlers, and connections that break.
    @Suite("Outcomes in the window")
    struct Outcomes {
        /// Adds a handler for texts.
        private func addHandler(to host: Host, _ script: String, _ more: [String] = []) async throws {
            let path = host.home + "/run.sh"
            try writeScript(script, to: path)
            let words = ["handlers", "add", "--name", "Reader", "--run", path, "--type", "public.text"]
            let added = try await host.run(arguments: words + more)
            try #require(added.exit == 0, "\(added.errors)")
        }

        @Test("a handler's answer stands in the transfer, and with its output in the Inbox, where it is asked again")
        func handlers() async throws {
            try await DeskStage.take { stage in
                let (browser, kitchen, study) = (stage.browser, try stage.host("kitchen"), try stage.host("study"))
                let path = try stage.write("note.txt", Data("hello".utf8))
                try await addHandler(
                    to: kitchen,
                    """
                    #!/bin/sh
                    test -e "$WAFT_DATA/seen" && exit 0
                    touch "$WAFT_DATA/seen"
                    echo 'broken <i>' >&2
                    exit 3
                    """)
                try await stage.withDesk(["WAFT_ACCEPT": "everyone"]) { desk, receiver in
                    try await desk.show("transfers")
                    let sent = try await study.run(
                        Programs.waft, ["send", path, "--to", DeskStage.kitchen(receiver)], in: stage.folder)
                    #expect(sent.exit == 0, "\(sent.errors)")
                    try await browser.wait(for: "handler: failed", in: "main .transfer")
                    try await desk.show("inbox")
                    try await desk.preview("note.txt")
                    try await desk.showDetails()
                    try await browser.wait(for: "broken <i>", in: "#preview details pre")
                    try await browser.wait(for: "handler: failed", in: "#preview dl")
                    try await desk.click("retry", in: "#preview")
                    try await browser.wait(for: "handler: yes", in: "#preview dl")
                    // By hand it goes to the same handler again.
                    try await desk.click("openIn", in: "#preview")
                    try await browser.wait(for: "Reader", in: "#preview .openers")
                }
            }
        }

        @Test("a sending is stored at once, and its card has the answer of the peer's handler once there is one")
        func answers() async throws {
            try await DeskStage.take { stage in
                let (browser, study) = (stage.browser, try stage.host("study"))
                let path = try stage.write("note.txt", Data("hello".utf8))
                let shared = study.home + "/shared"
                try FileManager.default.createDirectory(atPath: shared, withIntermediateDirectories: true)
                // It opens the first, and declines the next.
                let script = """
                    #!/bin/sh
                    while ! test -e '\(shared)/go'; do sleep 0.05; done
                    rm '\(shared)/go'
                    # 0 is yes; 1, when it is there already, is no.
                    mkdir "$WAFT_DATA/opened"
                    """
                try await addHandler(to: study, script, ["--writable", shared])
                try await stage.withDesk { desk, _ in
                    try await study.withReceiver { receiver in
                        let peer = "main [data-key=\"peer-\(receiver.id)\"]"
                        for (number, answer) in ["handler: yes", "handler: no"].enumerated() {
                            try await desk.show("room")
                            try await browser.wait("document.querySelector('\(peer)') !== null")
                            try await browser.drop([path], on: peer)
                            try await desk.seesActivity()
                            try await desk.show("transfers")
                            let card = "main .transfer"
                            try await browser.wait(for: "Stored and checked there", in: card)
                            try await browser.wait(for: "waits for a handler", in: card)
                            #expect(try receiver.names().count == number + 1)
                            // Nothing is left to cancel.
                            let cancel = "document.querySelector('\(card) button[aria-label^=Cancel]')"
                            try await browser.wait("!\(cancel).checkVisibility()")
                            try "".write(toFile: shared + "/go", atomically: false, encoding: .utf8)
                            try await browser.wait(for: answer, in: card)
                            try await browser.wait("document.querySelector('\(card)').matches('.good')")
                        }
                    }
                }
            }
        }

        @Test("a sending whose connection breaks says so in the window, goes on, and arrives whole")
        func resumed() async throws {
            try await DeskStage.take { stage in
                let (browser, contents) = (stage.browser, BrowserStage.noise(60 << 20))
                let path = try stage.write("large.bin", contents)
                let (kitchen, study) = (try stage.host("kitchen"), try stage.host("study"))
                try await kitchen.withReceiver(Programs.waftd, []) { _ in
                    try await kitchen.withDesk(browser, [path]) { desk in
                        try await stage.lab.call(["rate", stage.lab.name, "kitchen", "40mbit"])
                        try await study.withReceiver { receiver in
                            try await desk.click("to-\(receiver.id)", in: "#sheet")
                            try await browser.click("#sheet-go")
                            try await desk.show("transfers")
                            try await browser.wait("document.querySelector('main .transfer progress')?.value > 0.1")
                            receiver.signal(.kill)
                            try await browser.wait(for: "it goes on", in: "main .transfer")
                        }
                        try await stage.lab.call(["rate", stage.lab.name, "kitchen", "off"])
                        try await study.withReceiver { receiver in
                            try await browser.wait("document.querySelector('main .transfer.good') !== null")
                            #expect(FileManager.default.contents(atPath: receiver.inbox + "/large.bin") == contents)
                        }
                    }
                }
            }
        }

        @Test("a job that is tried is cancelled in the window, and leaves the outbox with its card")
        func outbox() async throws {
            try await DeskStage.take { stage in
                let browser = stage.browser
                try await stage.withDesk(contacts: ["attic"]) { desk, _ in
                    let queued = try await desk.host.run(
                        arguments: ["send", "--text", "for later", "--to", "Attic", "--queue"])
                    #expect(queued.exit == 0, "\(queued.errors)")
                    try await desk.show("transfers")
                    try await browser.wait(for: "Attic", in: "main .job")
                    try await browser.click("main .job [data-key=cancel1]")
                    try await browser.wait("document.querySelector('main .job [data-key=remove1]') !== null")
                    try await browser.click("main .job [data-key=remove1]")
                    try await browser.wait("document.querySelector('main .job') === null")
                    let left = try await desk.host.run(arguments: ["outbox", "list", "--all"])
                    #expect(left.output.isEmpty, "\(left)")
                }
            }
        }

        @Test("a handler that is added in the window gets what arrives")
        func adding() async throws {
            try await DeskStage.take { stage in
                let browser = stage.browser
                let path = try stage.write("note.txt", Data("hello".utf8))
                let script = stage.folder + "/run it.sh"
                try writeScript("#!/bin/sh\ncp \"$WAFT_FILE\" \"$WAFT_DATA/copy\"\n", to: script)
                try await stage.withDesk(["WAFT_ACCEPT": "everyone"]) { desk, receiver in
                    try await desk.show("handlers")
                    // The list stands above the form, and moves it when it comes.
                    try await browser.wait("document.querySelector('main li.card') !== null")
                    for (example, text) in [("/home", script), ("Photos", "Copies"), ("public", "public.text")] {
                        try await browser.type(text, into: "main form.fields input[placeholder^=\"\(example)\"]")
                    }
                    try await browser.click("main form.fields button[type=submit]")
                    // The window adds no program: it shows the command, which a shell takes as it is.
                    try await browser.wait(for: "waft handlers add", in: "main form.fields pre")
                    let advice = try await browser.text("main form.fields pre")
                    let command = try #require(advice.firstMatch(of: /waft (handlers add.*)/)?.1)
                    #expect(try await !browser.text("main .cards").contains("Copies"))
                    let added = try await desk.host.run("/bin/sh", ["-c", "'\(Programs.waft)' \(command)"])
                    #expect(added.exit == 0, "\(advice): \(added.errors)")
                    try await desk.show("room")
                    try await desk.show("handlers")
                    try await browser.wait(for: "Copies", in: "main .cards")
                    let sent = try await stage.host("study").run(
                        Programs.waft, ["send", path, "--to", DeskStage.kitchen(receiver)], in: stage.folder)
                    #expect(sent.exit == 0, "\(sent.errors)")
                    try await desk.show("transfers")
                    try await browser.wait(for: "handler: yes", in: "main .transfer")
                }
            }
        }
    }
}
