import Foundation
import Subprocess
import Testing

extension BrowserDeskTests {
    /// From the window to peers.
    @Suite("Sending from the desk")
    struct Sending {
        @Test("a file that is dropped on a peer arrives with its bytes")
        func drop() async throws {
            try await DeskStage.take { stage in
                let (browser, contents) = (stage.browser, BrowserStage.noise(3_000_000))
                let path = try stage.write("photo.jpg", contents)
                try await stage.withDesk { desk, _ in
                    try await stage.host("study").withReceiver { study in
                        let peer = "main [data-key=\"peer-\(study.id)\"]"
                        try await browser.wait("document.querySelector('\(peer)') !== null")
                        #expect(try await browser.text(peer).contains("study"))
                        try await browser.drop([path], on: peer)
                        // The tick at the face stays for a moment, the transfer in its list.
                        try await browser.wait(for: "Stored and checked there", in: peer)
                        try await desk.show("transfers")
                        try await browser.wait(for: "Stored and checked there", in: "main .transfer")
                        #expect(FileManager.default.contents(atPath: study.inbox + "/photo.jpg") == contents)
                        let history = try await desk.host.run(arguments: ["history", "--sent"])
                        #expect(history.output.contains("photo.jpg"), "\(history.output)")
                    }
                }
            }
        }

        @Test("a drag is taken from its first event on, and is over after a moment if its end is not told")
        func lostDrag() async throws {
            try await DeskStage.take { stage in
                try await stage.withDesk { _, _ in
                    let isTaken: Bool = try await stage.browser.script(
                        """
                        const dataTransfer = new DataTransfer();
                        dataTransfer.items.add(new File(["hello"], "note.txt"));
                        const taken = ["dragenter", "dragover"].map(kind => !document.body.dispatchEvent(
                            new DragEvent(kind, {dataTransfer, bubbles: true, cancelable: true})));
                        return taken.every(Boolean) && !document.querySelector("#dropping").hidden;
                        """)
                    #expect(isTaken)
                    try await stage.browser.wait("document.querySelector('#dropping').hidden")
                }
            }
        }

        @Test("a drop counts on a card that changes under it")
        func change() async throws {
            try await DeskStage.take { stage in
                let (browser, contents) = (stage.browser, BrowserStage.noise(200_000))
                let path = try stage.write("photo.jpg", contents)
                try await stage.withDesk { desk, _ in
                    try await stage.host("study").withReceiver { study in
                        let peer = "main [data-key=\"peer-\(study.id)\"]"
                        try await browser.wait("document.querySelector('\(peer)') !== null")
                        let _: Bool = try await browser.script(
                            """
                            import("/store.js").then(({changed, store}) => {
                                addEventListener("dragover", () => {
                                    store.peers.get("\(study.id)").device = "server";
                                    changed("peers");
                                });
                                window.isReady = true;
                            });
                            return true
                            """)
                        try await browser.wait("window.isReady")
                        try await browser.drop([path], on: peer)
                        try await browser.wait("document.querySelector('#dropping').hidden")
                        try await browser.wait("document.querySelector('\(peer)').title === 'server'")
                        try await desk.show("transfers")
                        try await browser.wait("document.querySelector('main .transfer.good') !== null")
                        #expect(FileManager.default.contents(atPath: study.inbox + "/photo.jpg") == contents)
                    }
                }
            }
        }

        @Test("chosen files and a folder go to two peers at once")
        func several() async throws {
            try await DeskStage.take { stage in
                let browser = stage.browser
                let files = [
                    "a.txt": Data("hello".utf8), "größe.bin": BrowserStage.noise(200_000),
                    "trip/deep/b.txt": Data("b".utf8),
                    "trip/c.bin": BrowserStage.noise(70_000),
                ]
                for (name, contents) in files { try stage.write(name, contents) }
                try await stage.withDesk { desk, _ in
                    let (study, attic) = (try stage.host("study"), try stage.host("attic"))
                    try await study.withReceiver { study in
                        try await attic.withReceiver { attic in
                            try await desk.seesPeer(study.id)
                            try await desk.seesPeer(attic.id)
                            try await desk.click("sendMore", in: "main")
                            try await desk.click("to-\(study.id)", in: "#sheet")
                            try await desk.catchFileDialogs()
                            try await desk.click("files", in: "#sheet")
                            try await browser.choose([stage.folder + "/a.txt", stage.folder + "/größe.bin"])
                            try await browser.wait(for: "größe.bin", in: "#sheet-items")
                            try await desk.click("folder", in: "#sheet")
                            try await browser.choose([stage.folder + "/trip"])
                            try await browser.wait(for: "trip", in: "#sheet-items")
                            try await desk.click("to-\(attic.id)", in: "#sheet")
                            #expect(try await browser.text("#sheet-go") == "Send 3 items to 2 peers")
                            try await browser.click("#sheet-go")
                            try await desk.show("transfers")
                            try await browser.wait("document.querySelectorAll('main .transfer.good').length === 2")
                            for receiver in [study, attic] {
                                #expect(try receiver.names() == ["a.txt", "größe.bin", "trip"])
                                for (name, contents) in files {
                                    let arrived = FileManager.default.contents(atPath: receiver.inbox + "/" + name)
                                    #expect(arrived == contents, "\(name)")
                                }
                            }
                        }
                    }
                }
            }
        }

        @Test("a text and a link arrive")
        func texts() async throws {
            try await DeskStage.take { stage in
                let browser = stage.browser
                try await stage.withDesk { desk, _ in
                    try await stage.host("study").withReceiver { study in
                        for (number, text) in ["back at six", "https://example.org/a?b=c"].enumerated() {
                            try await desk.show("room")
                            try await desk.click("peer-\(study.id)", in: "main")
                            try await browser.type(text, into: "#sheet-text")
                            try await browser.click("#sheet-go")
                            try await desk.show("transfers")
                            try await browser.wait(
                                "document.querySelectorAll('main .transfer.good').length === \(number + 1)")
                        }
                        let names = try study.names()
                        #expect(names.count == 2 && names.contains("back at six.txt"), "\(names)")
                        let link = try #require(names.first { $0 != "back at six.txt" })
                        let contents = try String(contentsOfFile: study.inbox + "/" + link, encoding: .utf8)
                        #expect(contents.contains("https://example.org/a?b=c"), "\(contents)")
                    }
                }
            }
        }

        @Test("a contact that is away gets a text and a folder of the browser from the outbox when it comes")
        func away() async throws {
            try await DeskStage.take { stage in
                let (browser, attic) = (stage.browser, try stage.host("attic"))
                try stage.write("trip/deep/b.txt", Data("b".utf8))
                try await stage.withDesk(contacts: ["attic"]) { desk, _ in
                    try await desk.click("peer-\(attic.ownID())", in: "main")
                    try await desk.catchFileDialogs()
                    try await desk.click("folder", in: "#sheet")
                    try await browser.choose([stage.folder + "/trip"])
                    try await browser.wait(for: "trip", in: "#sheet-items")
                    try await browser.type("for later", into: "#sheet-text")
                    try await browser.wait(for: "outbox", in: "#sheet-note")
                    try await browser.click("#sheet-go")
                    try await desk.show("transfers")
                    try await browser.wait("document.querySelectorAll('main .job').length === 1")
                    #expect(try await browser.text("main .job").contains("2 items"))
                    try await attic.withReceiver { attic in
                        try await eventually { try attic.names() == ["for later.txt", "trip"] }
                        let arrived = FileManager.default.contents(atPath: attic.inbox + "/trip/deep/b.txt")
                        #expect(arrived == Data("b".utf8))
                        try await eventually {
                            try await !desk.host.run(arguments: ["outbox", "list"]).output.contains("Attic")
                        }
                        try await desk.show("room")
                        try await desk.show("transfers")
                        try await browser.wait(for: "sent", in: "main .job")
                    }
                }
            }
        }

        @Test("a phone with LocalSend gets a dropped file, and a dropped folder by way of the outbox")
        func phone() async throws {
            try await DeskStage.take { stage in
                let (browser, contents) = (stage.browser, BrowserStage.noise(200_000))
                let photo = try stage.write("photo.jpg", contents)
                try stage.write("trip/deep/größe.txt", Data("b".utf8))
                try await stage.withDesk { desk, _ in
                    try await stage.host("study").withApp("1.18", at: "192.168.77.2") { app in
                        let phone = "main .peer:not(.away, .invites)"
                        try await browser.wait(for: "LocalSend", in: phone)
                        try await browser.drop([photo], on: phone)
                        try await desk.seesActivity()
                        try await desk.show("transfers")
                        try await browser.wait("document.querySelector('main .transfer.good') !== null")
                        #expect(FileManager.default.contents(atPath: app.received("photo.jpg")) == contents)
                        try await desk.show("room")
                        try await browser.drop([stage.folder + "/trip"], on: phone)
                        try await desk.seesActivity()
                        try await desk.show("transfers")
                        try await browser.wait(for: "trip", in: "main .job")
                        try await eventually {
                            FileManager.default.contents(atPath: app.received("trip/deep/größe.txt")) == Data("b".utf8)
                        }
                    }
                }
            }
        }

        @Test("a sending shows its progress, its cancel leaves nothing at the peer, and it is tried again by a button")
        func cancel() async throws {
            try await DeskStage.take { stage in
                let browser = stage.browser
                let path = try stage.write("large.bin", BrowserStage.noise(90 << 20))
                try await stage.withDesk { desk, _ in
                    try await stage.host("study").withReceiver { study in
                        try await desk.seesPeer(study.id)
                        try await stage.lab.call(["rate", stage.lab.name, "kitchen", "40mbit"])
                        try await browser.drop([path], on: "main [data-key=\"peer-\(study.id)\"]")
                        // A ring around the face shows the progress.
                        let ring = "document.querySelector('main .ring .done')?.getAttribute('stroke-dashoffset')"
                        try await browser.wait("\(ring) > 0 && \(ring) < 95")
                        try await desk.show("transfers")
                        try await browser.wait("document.querySelector('main .transfer progress').value > 0.05")
                        #expect(try await browser.text("main .transfer .figures").contains("94.4 MB"))
                        try await browser.wait(
                            "document.querySelector('main .transfer svg path, main .transfer svg polyline') !== null")
                        try await browser.click("main .transfer button[aria-label^=Cancel]")
                        try await browser.wait(for: "Cancelled", in: "main .transfer")
                        try await stage.lab.call(["rate", stage.lab.name, "kitchen", "off"])
                        try await eventually {
                            try await !desk.host.run("/bin/sh", ["-c", "ls \"$WAFT_HOME\"/run/desk-*/"]).output
                                .contains("sending")
                        }
                        #expect(try study.names().isEmpty)
                        // The window has the files still.
                        try await desk.click("again", in: "main .transfer")
                        try await browser.wait("document.querySelector('main .transfer.good') !== null")
                        #expect(try study.names() == ["large.bin"])
                    }
                }
            }
        }

        @Test("files that waft desk was given are in its sheet, and go without a copy")
        func shared() async throws {
            try await DeskStage.take { stage in
                let (browser, contents) = (stage.browser, BrowserStage.noise(200_000))
                let path = try stage.write("shared.bin", contents)
                let kitchen = try stage.host("kitchen")
                try await kitchen.withReceiver(Programs.waftd, []) { _ in
                    try await stage.host("study").withReceiver { study in
                        try await kitchen.withDesk(browser, [path]) { desk in
                            try await browser.wait("document.querySelector('#sheet').open")
                            #expect(try await browser.text("#sheet-items").contains("shared.bin"))
                            try await desk.click("to-\(study.id)", in: "#sheet")
                            #expect(try await browser.text("#sheet-note").contains("keep this window open") == false)
                            try await browser.click("#sheet-go")
                            try await desk.show("transfers")
                            try await browser.wait("document.querySelector('main .transfer.good') !== null")
                            #expect(FileManager.default.contents(atPath: study.inbox + "/shared.bin") == contents)
                        }
                    }
                }
            }
        }

        /// The buttons of the sheet for all that this machine can do with the items.
        private static let buttons = "[...document.querySelectorAll('#sheet-more button')].map(b => b.innerText).join()"

        @Test(
            "the sheet has the activities for the types of its items, and they run here, also for files of the browser")
        func activities() async throws {
            try await DeskStage.take { stage in
                let (browser, contents) = (stage.browser, Data("to be put there\n".utf8))
                let paths = [
                    try stage.write("note.txt", contents), try stage.write("noise.bin", BrowserStage.noise(9_000)),
                ]
                let kitchen = try stage.host("kitchen")
                try kitchen.addHandler(
                    "shelf", activity: "org.example.put", title: "Put on the &lt;b&gt;shelf", itemTypes: "public.text",
                    script: """
                        #!/bin/sh
                        cp "$WAFT_FILE" "$WAFT_DATA/copy" && echo '{"returnedItems": ["copy"]}'
                        """)
                try await stage.withDesk { desk, _ in
                    try await desk.catchFileDialogs()
                    try await browser.drop([paths[0]], on: "main h1")
                    try await browser.wait("\(Self.buttons) === 'Put on the <b>shelf (shelf)'")
                    try await browser.click("#sheet-more button")
                    let copy = kitchen.home + "/handler-data/org.example.shelf/copy"
                    try await browser.wait(for: copy, in: "#sheet-more [role=status]")
                    #expect(FileManager.default.contents(atPath: copy) == contents)
                    // Not each item is a text.
                    try await desk.click("files", in: "#sheet")
                    try await browser.choose([paths[1]])
                    try await browser.wait("\(Self.buttons) === ''")
                    for _ in paths { try await browser.click("#sheet-items button") }
                    try await browser.type("typed", into: "#sheet-text")
                    try await browser.wait("\(Self.buttons) === 'Put on the <b>shelf (shelf)'")
                    try await browser.click("#sheet-more button")
                    try await browser.wait(for: copy, in: "#sheet-more [role=status]")
                    #expect(FileManager.default.contents(atPath: copy) == Data("typed".utf8))
                }
            }
        }

        @Test("in Firefox and in German a chosen file arrives, and a question is answered")
        func firefox() async throws {
            try await DeskStage.take { stage in
                let contents = BrowserStage.noise(2_000_000)
                let path = try stage.write("foto.jpg", contents)
                let kitchen = try stage.host("kitchen")
                try await kitchen.withReceiver(Programs.waftd, []) { receiver in
                    try await kitchen.becomeVisible()
                    try await kitchen.withBrowser(.firefox, folder: stage.folder + "/firefox", language: "de") {
                        firefox in
                        try await kitchen.withDesk(firefox) { desk in
                            try await stage.host("study").withReceiver { study in
                                try await desk.click("peer-\(study.id)", in: "main")
                                try await desk.catchFileDialogs()
                                try await desk.click("files", in: "#sheet")
                                // A file that is chosen for a face goes at once.
                                try await firefox.choose([path])
                                try await firefox.wait("!document.querySelector('#sheet').open")
                                try await desk.show("transfers")
                                try await firefox.wait(for: "Dort gespeichert und geprüft", in: "main .transfer")
                                #expect(FileManager.default.contents(atPath: study.inbox + "/foto.jpg") == contents)
                            }
                            let attic = try stage.host("attic")
                            try await attic.offering([path], to: DeskStage.kitchen(receiver), in: stage.folder) {
                                sending in
                                try await firefox.wait(for: "bietet 1 Bild an", in: "#question")
                                try await desk.answerQuestion("accept")
                                try await sending.transcript.says("stored as foto.jpg")
                            }
                        }
                    }
                }
            }
        }
    }
}

extension Desk {
    /// Waits until the peers' view has a card of a key.
    func seesPeer(_ id: String) async throws {
        try await browser.wait("document.querySelector('main [data-key=\"peer-\(id)\"]') !== null")
    }
}
