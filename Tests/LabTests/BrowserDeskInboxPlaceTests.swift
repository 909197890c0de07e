import Foundation
import Subprocess
import Testing

extension BrowserDeskTests {
    /// People look at the items, find them, and send them on.
    @Suite("The Inbox as a place")
    struct InboxPlace {
        private func send(_ names: [String], to receiver: RunningReceiver, _ stage: DeskStage) async throws {
            let sent = try await stage.host("study").run(
                Programs.waft, ["send"] + names + ["--to", DeskStage.kitchen(receiver)], in: stage.folder)
            try #require(sent.exit == 0, "\(sent.errors)")
        }

        private func count(_ items: Int, _ browser: Browser) async throws {
            try await browser.wait("document.querySelectorAll('main [role=option]').length === \(items)")
        }

        @Test(
            "folders are entered and left, items in them are found with their folder, and a received folder is looked into"
        )
        func folders() async throws {
            try await DeskStage.take { stage in
                let browser = stage.browser
                try stage.write("Film.txt", Data("film".utf8))
                try stage.write("new/Film.txt", Data("new film".utf8))
                try stage.write("plans/beds/north.txt", Data("peas".utf8))
                let nothing = stage.folder + "/nothing"
                try FileManager.default.createDirectory(atPath: nothing, withIntermediateDirectories: true)
                try await stage.withDesk(contacts: ["study"], policy: "accept") { desk, receiver in
                    try await send(["Film.txt", "plans", "nothing"], to: receiver, stage)
                    let set = try await desk.host.run(
                        arguments: ["contacts", "set", "Study", "--folder", "Photos/2026"])
                    #expect(set.exit == 0, "\(set.errors)")
                    try await send(["new/Film.txt"], to: receiver, stage)
                    try await desk.show("inbox")
                    try await count(4, browser)
                    try await browser.wait(for: "1 item", in: "main [role=option]:has(bdi[title=Photos])")
                    // Its picture leads into a folder, and so does Return.
                    try await browser.click("main [role=option]:has(bdi[title=Photos]) .thumb")
                    try await browser.wait(for: "Photos", in: "main h1")
                    try await count(1, browser)
                    try await browser.press("Enter")
                    try await browser.wait(for: "2026", in: "main h1")
                    try await browser.wait(for: "Film.txt", in: "main [role=option]")
                    let _: Bool = try await browser.script("history.back(); return true")
                    try await browser.wait(for: "Photos", in: "main h1")
                    try await browser.wait("document.querySelector('main [role=option] bdi')?.title === '2026'")
                    try await browser.click("main .steps [data-key=step-]")
                    try await browser.wait(for: "Inbox", in: "main h1")
                    try await count(4, browser)
                    // A search finds the folder's name, and says where an item is.
                    try await browser.type("2026/f", into: "main input[type=search]")
                    try await count(1, browser)
                    try await browser.wait(for: "Photos/2026", in: "main [role=option]")
                    try await desk.preview("Film.txt")
                    try await browser.wait(for: "in Photos/2026", in: "#preview .head")
                    try await browser.press("Escape")
                    try await browser.wait("!document.querySelector('#preview').open")
                    // An item's own address opens its folder.
                    let _: Bool = try await browser.script("location.hash = 'inbox/4'; return true")
                    try await browser.wait(for: "2026", in: "main h1")
                    try await browser.wait("document.querySelector('#preview').open")
                    try await browser.press("Escape")
                    // The focus returns to the list.
                    try await browser.wait("document.activeElement.matches('[role=listbox]')")
                    try await browser.press("Backspace")
                    try await browser.wait(for: "Photos", in: "main h1")
                    try await browser.press("Backspace")
                    try await browser.wait(for: "Inbox", in: "main h1")
                    // The folder that Waft made has no sender, and none is made up.
                    try await browser.press("Home", "Space")
                    try await browser.wait(for: "Photos", in: "#preview h2")
                    try await browser.wait("document.querySelector('#preview dl') !== null")
                    #expect(try await browser.script("return !/not by Waft/.test(document.body.textContent)"))
                    // A received folder shows its contents.
                    try await desk.preview("plans")
                    try await desk.click("in-beds", in: "#preview")
                    try await browser.wait(for: "north.txt", in: "#preview .members")
                    try await desk.click("in-", in: "#preview")
                    try await browser.wait(for: "beds", in: "#preview .members")
                    try await desk.preview("nothing")
                    try await browser.wait(for: "This folder is empty.", in: "#preview")
                }
            }
        }

        @Test(
            "Space shows an item large, arrows go on, what cannot be shown says so, and a liar says why it is one")
        func looking() async throws {
            try await DeskStage.take { stage in
                let browser = stage.browser
                let long = String(repeating: "L", count: 220) + " the report.pdf.txt"
                try stage.write(long, Data("text".utf8))
                try stage.write("IMG_1.HEIC", Data("\0\0\0\u{18}ftypheic\0\0\0\0mif1heic".utf8))
                try stage.write("choir.flac", Data("fLaC\0\0\0\u{22}no sound".utf8))
                try FileManager.default.copyItem(atPath: "/bin/true", toPath: stage.folder + "/liar.jpg")
                try await stage.withDesk(["WAFT_ACCEPT": "everyone"]) { desk, receiver in
                    for name in [long, "liar.jpg", "choir.flac", "IMG_1.HEIC"] {
                        try await send([name], to: receiver, stage)
                    }
                    for (width, height, isPhone) in [(360, 740, true), (1_280, 800, false)] {
                        try await browser.setWindow(width, height, isPhone: isPhone)
                        try await desk.show("inbox")
                        try await count(4, browser)
                        // The first screen is for the items, nothing else scrolls, and the end of a name is seen.
                        let first: [Double] = try await browser.script(
                            """
                            const list = document.querySelector(".scroller").getBoundingClientRect(), root = document.documentElement;
                            return [list.top / innerHeight, list.bottom / innerHeight, root.scrollHeight - innerHeight];
                            """)
                        #expect(first[0] < 0.35 && first[1] <= 1 && first[2] <= 0, "\(width): \(first)")
                        let ends: Bool = try await browser.script(
                            """
                            const name = document.querySelector('bdi[title="\(long)"]');
                            return name.dataset.last === ".pdf.txt" && name.innerText === name.title
                                && name.getBoundingClientRect().width <= innerWidth / 2;
                            """)
                        #expect(ends)
                    }
                    #expect(try await browser.script("return document.querySelectorAll('main .badge').length === 1"))
                    // By keys alone, from the newest item to the oldest.
                    let _: Bool = try await browser.script("document.querySelector('.scroller').focus(); return true")
                    try await browser.press("Home", "Space")
                    let seen = [
                        ("IMG_1.HEIC", ".contents", "This browser cannot show this picture"),
                        ("choir.flac", ".contents", "This browser cannot play this sound"),
                        ("liar.jpg", ".warning", "The name says “Picture”, but the content is “Program”"),
                        (long, "pre", "text"),
                    ]
                    for (name, part, words) in seen {
                        try await browser.wait(for: name, in: "#preview h2")
                        try await browser.wait(for: words, in: "#preview \(part)")
                        if name != long { try await browser.press("ArrowRight") }
                    }
                    try await browser.press("ArrowRight", "ArrowLeft")
                    try await browser.wait(for: "liar.jpg", in: "#preview h2")
                    try await browser.wait(for: "There is nothing to look at", in: "#preview .contents")
                    // The focus returns to the item that was looked at last.
                    try await browser.press("Escape")
                    let active: String = try await browser.script(
                        """
                        const list = document.activeElement;
                        return document.getElementById(list.getAttribute("aria-activedescendant"))?.ariaLabel ?? "";
                        """)
                    #expect(active.hasPrefix("liar.jpg, not what it says"), "\(active)")
                }
            }
        }

        @Test("an item is sent on by a button, and by a drag to a face; what another page drags is not")
        func sendingOn() async throws {
            try await DeskStage.take { stage in
                let browser = stage.browser
                try stage.write("note.txt", Data("hello".utf8))
                try await stage.withDesk(["WAFT_ACCEPT": "everyone"]) { desk, receiver in
                    try await send(["note.txt"], to: receiver, stage)
                    try await stage.host("study").withReceiver { study in
                        try await browser.wait(
                            "document.querySelector('main [data-key=\"peer-\(study.id)\"]') !== null")
                        try await desk.show("inbox")
                        try await desk.preview("note.txt")
                        try await desk.click("sendOn", in: "#preview")
                        try await browser.wait(for: "note.txt", in: "#sheet-items")
                        try await browser.press("Escape", "Escape")
                        try await browser.wait("!document.querySelector('#preview').open")
                        // A page of others knows the type, and has a path.
                        let _: Bool = try await browser.script(
                            """
                            window.drag = (kind, part, data) => part.dispatchEvent(
                                new DragEvent(kind, {dataTransfer: data, bubbles: true, cancelable: true}));
                            const foreign = new DataTransfer();
                            foreign.setData("application/x-waft-items", "/etc/passwd");
                            drag("dragover", document.body, foreign);
                            window.item = new DataTransfer();
                            drag("dragstart", document.querySelector("main [role=option]"), item);
                            drag("dragover", document.querySelector(".scroller"), item);
                            return true;
                            """)
                        let face = "main .strip:not([hidden]) .peer"
                        try await browser.wait(for: "study", in: face)
                        let _: Bool = try await browser.script(
                            """
                            const face = document.querySelector('\(face)');
                            for (const kind of ["dragover", "drop", "dragend"]) drag(kind, face, item);
                            return true;
                            """)
                        try await browser.wait("document.querySelector('main .strip .outcome') !== null")
                        #expect(
                            FileManager.default.contents(atPath: study.inbox + "/note.txt") == Data("hello".utf8))
                        #expect(try await browser.script("return !document.querySelector('#sheet').open"))
                        try await browser.wait("document.querySelector('main .strip').hidden")
                        // No face shows how this one ends: a toast does, behind the preview.
                        try await desk.preview("note.txt")
                        try await desk.click("sendOn", in: "#preview")
                        try await browser.wait(for: "study", in: "#sheet-peers")
                        try await browser.click("#sheet-peers label")
                        try await browser.click("#sheet-go")
                        try await browser.wait(for: "1 item stored at stranger study", in: "#toasts .toast:last-child")
                        #expect(try study.names() == ["note.txt"])
                    }
                }
            }
        }

        @Test("a file of any kind is dragged out with the address of its bytes, which are given to be saved only")
        func draggedOut() async throws {
            try await DeskStage.take { stage in
                let browser = stage.browser
                let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
                try stage.write("a: b.bin", bytes)
                try stage.write("plans/north.txt", Data("peas".utf8))
                try await stage.withDesk(["WAFT_ACCEPT": "everyone"]) { desk, receiver in
                    try await send(["a: b.bin", "plans"], to: receiver, stage)
                    try await desk.show("inbox")
                    try await count(2, browser)
                    let folder = try await browser.drag("main [role=option]:has(bdi[title=plans]) .thumb")
                    #expect(folder["downloadurl"] == nil, "\(folder)")
                    let taken = try await browser.drag("main [role=option]:has(bdi[title='a: b.bin']) .thumb")
                    let previews = try await desk.previews()
                    #expect(
                        taken["downloadurl"] == "application/octet-stream:a_ b.bin:\(previews)/items/1/file", "\(taken)"
                    )
                    func get(_ path: String, _ more: String...) async throws -> ProgramResult {
                        let saved = ["-s", "-D", "-", "-o", stage.folder + "/saved"] + more
                        return try await desk.host.run("/usr/bin/curl", saved + [previews + path])
                    }
                    let answer = try await get("/items/1/file").output.lowercased()
                    for line in [
                        "http/1.1 200", "content-type: application/octet-stream", "content-disposition: attachment;",
                        "content-security-policy: sandbox;", "x-content-type-options: nosniff",
                        "cross-origin-resource-policy: same-origin", "content-length: 300000",
                    ] { #expect(answer.contains(line), "\(line): \(answer)") }
                    #expect(FileManager.default.contents(atPath: stage.folder + "/saved") == bytes)
                    #expect(try await get("/items/1/file", "-H", "Range: bytes=9-").output.contains(" 206 "))
                    for path in ["/items/2/file", "/items/3/file"] {
                        #expect(try await get(path).output.contains(" 404 "), "\(path)")
                    }
                }
            }
        }

        @Test("verifying shows how many are done, can be stopped, and says what was not checked")
        func verifying() async throws {
            try await DeskStage.take { stage in
                let browser = stage.browser
                let names = (0..<20).map { "\($0).txt" }
                for name in names { try stage.write(name, Data(name.utf8)) }
                try await stage.withDesk(["WAFT_ACCEPT": "everyone"]) { desk, receiver in
                    try await send(names, to: receiver, stage)
                    try Data("changed".utf8).write(to: URL(fileURLWithPath: receiver.inbox + "/7.txt"))
                    try Data("own".utf8).write(to: URL(fileURLWithPath: receiver.inbox + "/own.txt"))
                    try await desk.show("inbox")
                    try await count(21, browser)
                    let _: Bool = try await browser.script(
                        """
                        const list = document.querySelector(".scroller");
                        list.focus();
                        list.dispatchEvent(new KeyboardEvent("keydown", {key: "a", ctrlKey: true}));
                        return true;
                        """)
                    try await browser.wait(for: "21 chosen", in: "main .bulk")
                    try await desk.click("verify", in: "main .bulk")
                    try await browser.wait(for: "19 items are as they arrived.", in: "main .verified")
                    let said = try await browser.text("main .verified")
                    #expect(said.contains("1 item was not checked: it did not come by Waft."), "\(said)")
                    #expect(said.contains("7.txt") && said.contains("It has changed since it arrived."), "\(said)")
                    // From the fourth on, no call comes to an end.
                    let _: Bool = try await browser.script(
                        """
                        const real = fetch;
                        let n = 0;
                        window.fetch = (path, more) => /inbox.verify/.test(path) && ++n > 3
                            ? Promise.resolve(new Response(null, {status: 202})) : real(path, more);
                        return true;
                        """)
                    try await desk.click("verify", in: "main .bulk")
                    try await browser.wait(for: "Checking: 3 of 20", in: "main .verifying")
                    #expect(
                        try await browser.script("return document.querySelector('.verifying progress').value === 3"))
                    try await desk.click("stop", in: "main .verifying")
                    try await browser.wait(
                        for: "17 items were not checked, because you stopped.", in: "main .verified")
                }
            }
        }
    }
}
