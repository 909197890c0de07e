import Foundation
import Subprocess
import Testing

extension BrowserDeskTests {
    /// The items that have arrived.
    @Suite("The Inbox in the window")
    struct Inbox {
        /// Sends files from the study, and expects that they arrive.
        private func send(_ names: [String], to receiver: RunningReceiver, _ stage: DeskStage) async throws {
            let sent = try await stage.host("study").run(
                Programs.waft, ["send"] + names + ["--to", DeskStage.kitchen(receiver)], in: stage.folder)
            try #require(sent.exit == 0, "\(sent.errors)")
        }

        /// Of one pixel.
        private let picture = Data(
            base64Encoded:
                "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")!

        @Test("items appear as they arrive, are shown, filtered, verified, taken and removed; a liar is marked")
        func whole() async throws {
            try await DeskStage.take { stage in
                let browser = stage.browser
                try stage.write("photo.png", picture)
                try stage.write("note.txt", Data("first line\nsecond <b>line</b>\n".utf8))
                try FileManager.default.copyItem(atPath: "/bin/true", toPath: stage.folder + "/liar.jpg")
                let zipped = try await stage.host("study").run(
                    "/usr/bin/env", ["python3", "-m", "zipfile", "-c", "both.zip", "note.txt", "photo.png"],
                    in: stage.folder)
                try #require(zipped.exit == 0, "\(zipped.errors)")
                try await stage.withDesk(["WAFT_ACCEPT": "everyone"]) { desk, receiver in
                    try await desk.show("inbox")
                    try await browser.wait(for: "The Inbox is empty", in: "main")
                    try await send(["photo.png", "note.txt", "liar.jpg", "both.zip"], to: receiver, stage)
                    try await browser.wait("document.querySelectorAll('main [role=option]').length === 4")
                    // A picture, a text, an archive's list.
                    try await desk.preview("photo.png")
                    try await browser.wait("document.querySelector('#preview img.picture')?.naturalWidth > 0")
                    try await desk.preview("note.txt")
                    try await browser.wait(for: "second <b>line</b>", in: "#preview pre")
                    try await desk.preview("both.zip")
                    try await browser.wait(for: "photo.png", in: "#preview .members")
                    try await desk.preview("liar.jpg")
                    try await browser.wait(for: "the content is “Program”", in: "#preview .warning")
                    let liar: Bool = try await browser.script(
                        "return !document.querySelector('#preview img.picture') && !document.querySelector('#preview [data-key=open]')"
                    )
                    #expect(liar)
                    // Filters and the list.
                    try await browser.press("Escape")
                    for (value, items, words) in [("liar", 1, "Filters: 1 on"), ("", 4, "Filters")] {
                        try await desk.click("filters", in: "main")
                        let _: Bool = try await browser.script(
                            """
                            const state = document.querySelector('#filters select[aria-label=State]');
                            state.value = '\(value)'; state.dispatchEvent(new Event('change'));
                            return true;
                            """)
                        try await browser.wait("document.querySelectorAll('main [role=option]').length === \(items)")
                        try await browser.wait(for: words, in: "button.filters")
                        try await browser.press("Escape")
                    }
                    try await browser.type("note", into: "main input[type=search]")
                    try await browser.wait("document.querySelectorAll('main [role=option]').length === 1")
                    #expect(try await browser.text("main [role=listbox]").contains("note.txt"))
                    try await browser.press("Backspace", "Backspace", "Backspace", "Backspace")
                    try await browser.wait("document.querySelectorAll('main [role=option]').length === 4")
                    try await browser.click("main .head button[aria-label='Show as a list']")
                    try await browser.wait("!document.querySelector('.scroller').classList.contains('grid')")
                    // Verify, take, remove.
                    try await desk.preview("note.txt")
                    try await desk.showDetails()
                    try await desk.click("verify", in: "#preview")
                    try await browser.wait(for: "is as it arrived", in: "main")
                    try await desk.click("takeDots", in: "#preview")
                    let out = stage.folder + "/out"
                    try FileManager.default.createDirectory(atPath: out, withIntermediateDirectories: true)
                    try await desk.answer(out)
                    try await browser.wait("document.querySelectorAll('main [role=option]').length === 3")
                    #expect(FileManager.default.fileExists(atPath: out + "/note.txt"))
                    try await desk.preview("photo.png")
                    try await desk.showDetails()
                    try await desk.click("removeDots", in: "#preview")
                    try await desk.answer(nil)
                    try await browser.wait("document.querySelectorAll('main [role=option]').length === 2")
                    #expect(try receiver.names() == ["both.zip", "liar.jpg"])
                }
            }
        }

        /// A document with so many pages of 595 by 842 points.
        private func document(pages: Int) -> Data {
            let places = (0..<pages).map { "\(3 + $0) 0 R" }.joined(separator: " ")
            let page = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]>>"
            let objects =
                ["<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[\(places)]/Count \(pages)>>"]
                + Array(repeating: page, count: pages)
            // Readers make the missing table of places themselves.
            let text = objects.enumerated().map { "\($0 + 1) 0 obj\n\($1)\nendobj\n" }.joined()
            return Data(("%PDF-1.4\n" + text + "trailer<</Size \(pages + 3)/Root 1 0 R>>\n%%EOF\n").utf8)
        }

        /// Writes `photo.png`: 800 by 800 pixels of noise, which no form of picture makes small.
        private static let noise = #"""
            import os, struct, zlib
            part = lambda name, data: struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
            rows = b"".join(b"\0" + os.urandom(2400) for row in range(800))
            with open("photo.png", "wb") as file:
                file.write(b"\x89PNG\r\n\x1a\n" + part(b"IHDR", struct.pack(">IIBBBBB", 800, 800, 8, 2, 0, 0, 0))
                           + part(b"IDAT", zlib.compress(rows)) + part(b"IEND", b""))
            """#

        @Test("the pages of a PDF document are pictures, and pictures in the list are small, also of sealed items")
        func pictures() async throws {
            try await DeskStage.take { stage in
                let browser = stage.browser
                try stage.write("report.pdf", document(pages: 3))
                let drawn = try await stage.host("study").run(
                    "/usr/bin/python3", ["-c", Self.noise], in: stage.folder)
                try #require(drawn.exit == 0, "\(drawn.errors)")
                let host = try stage.host("kitchen")
                try host.setUpProtection()
                try await stage.withDesk(["WAFT_ACCEPT": "everyone"]) { desk, receiver in
                    try await host.unlock()
                    try await send(["report.pdf", "photo.png"], to: receiver, stage)
                    try await desk.show("inbox")
                    for name in ["report.pdf", "photo.png"] {
                        try await browser.wait(
                            """
                            [...document.querySelectorAll('main [role=option]')].some(o => o.innerText.includes('\(name)')
                                && Math.max(o.querySelector('img')?.naturalWidth, o.querySelector('img')?.naturalHeight) === 256)
                            """)
                    }
                    try await desk.preview("report.pdf")
                    try await browser.wait(
                        "[...document.querySelectorAll('#preview .pages img')].filter(i => i.naturalHeight === 1400).length > 0"
                    )
                    let pages: Int = try await browser.script(
                        "return document.querySelectorAll('#preview .pages img').length")
                    #expect(pages == 3)
                    try await desk.preview("photo.png")
                    try await browser.wait("document.querySelector('#preview img.picture')?.naturalWidth >= 800")
                }
            }
        }

        /// Records a film of 20 pictures, in base64.
        private static let recording = """
            const canvas = document.createElement("canvas"), pen = canvas.getContext("2d"), pieces = [];
            const recorder = new MediaRecorder(canvas.captureStream(), {mimeType: "video/webm"});
            return new Promise(done => {
                let count = 0;
                const drawing = setInterval(() => {
                    pen.fillRect(count, count, 9, 9);
                    if (++count === 20) recorder.stop(), clearInterval(drawing);
                }, 20);
                recorder.ondataavailable = event => pieces.push(event.data);
                recorder.onstop = () => {
                    const reader = new FileReader();
                    reader.onload = () => done(reader.result.split(",")[1]);
                    reader.readAsDataURL(new Blob(pieces));
                };
                recorder.start();
            });
            """

        /// Writes `tone.wav`: a second of silence.
        private static let silence = """
            import wave
            with wave.open("tone.wav", "wb") as file:
                file.setnchannels(1), file.setsampwidth(2), file.setframerate(8000)
                file.writeframes(bytes(16000))
            """

        @Test("a film and a sound play in a frame of their own, in which no script runs", arguments: [false, true])
        func players(areSealed: Bool) async throws {
            try await DeskStage.take { stage in
                let browser = stage.browser
                let film: String = try await browser.script(Self.recording)
                try stage.write("film.webm", try #require(Data(base64Encoded: film)))
                let made = try await stage.host("study").run(
                    "/usr/bin/python3", ["-c", Self.silence], in: stage.folder)
                try #require(made.exit == 0, "\(made.errors)")
                let host = try stage.host("kitchen")
                if areSealed { try host.setUpProtection() }
                try await stage.withDesk(["WAFT_ACCEPT": "everyone"]) { desk, receiver in
                    if areSealed { try await host.unlock() }
                    try await send(["film.webm", "tone.wav"], to: receiver, stage)
                    try await desk.show("inbox")
                    for (name, frame) in [("film.webm", "movie"), ("tone.wav", "sound")] {
                        try await desk.preview(name)
                        let player = "#preview iframe.\(frame)"
                        try await browser.wait("document.querySelector('\(player)[sandbox=\"\"]') !== null")
                        let isApart: Bool = try await browser.script(
                            "return document.querySelector('#preview iframe').contentDocument === null")
                        #expect(isApart)
                        // The browser knows how long it is, and nothing scrolls in the frame.
                        try await browser.wait(
                            "document.querySelector('video, audio')?.readyState >= 2 && document.documentElement.scrollHeight <= innerHeight",
                            within: player)
                    }
                    try await browser.press("Escape")
                    try await desk.click("filters", in: "main")
                    try await browser.click("#filters .used summary")
                    for family in ["Film", "Sound"] { try await browser.wait(for: family, in: "#filters .used") }
                    let arrived = FileManager.default.contents(atPath: receiver.inbox + "/tone.wav")
                    #expect((arrived == nil) == areSealed)
                }
            }
        }

        @Test("sealed items are shown as locked, and read after an unlock in the window")
        func sealed() async throws {
            try await DeskStage.take { stage in
                let browser = stage.browser
                try stage.write("secret.txt", Data("only for me".utf8))
                try stage.host("kitchen").setUpProtection()
                try await stage.withDesk(["WAFT_ACCEPT": "everyone"]) { desk, receiver in
                    try await send(["secret.txt"], to: receiver, stage)
                    try await desk.show("inbox")
                    try await desk.preview("secret.txt")
                    #expect(try await browser.text("#preview").contains("can be read after an unlock"))
                    // The file of a sealed item is not what others should get.
                    #expect(try await browser.script("return !document.querySelector('#preview [data-key=sendOn]')"))
                    try await browser.wait(for: "Sealed items: 1", in: "main")
                    for (passphrase, says) in [("wrong", "assphrase"), (Host.passphraseOfTests, "can be read now")] {
                        try await desk.click("unlock", in: "#preview")
                        try await desk.answer(passphrase)
                        try await browser.wait(for: says, in: "main")
                    }
                    try await browser.wait(for: "only for me", in: "#preview pre")
                    // No address has the bytes of a sealed file.
                    let file = try await desk.previews() + "/items/1/file"
                    let words = ["-s", "-o", "/dev/null", "-w", "%{http_code}", file]
                    #expect(try await desk.host.run("/usr/bin/curl", words).output == "404")
                    try await browser.press("Escape")
                    try await desk.click("lock", in: "main")
                    try await browser.wait(for: "Sealed items: 1", in: "main")
                }
            }
        }

        @Test("ten thousand items are listed by few parts of the page, and scroll to the last")
        func many() async throws {
            try await DeskStage.take { stage in
                let browser = stage.browser
                try await stage.withDesk(["WAFT_ACCEPT": "everyone"]) { desk, receiver in
                    for number in 0..<10_000 {
                        let name = String(format: "%05d.txt", number)
                        #expect(FileManager.default.createFile(atPath: receiver.inbox + "/" + name, contents: nil))
                    }
                    try await desk.show("inbox")
                    try await browser.wait(for: "10,000 items", in: "main")
                    let count: Int = try await browser.script("return document.querySelectorAll('main *').length")
                    #expect(count < 1_500, "\(count)")
                    let _: Bool = try await browser.script(
                        """
                        const order = document.querySelector('#filters select[aria-label=Order]');
                        order.value = 'name'; order.dispatchEvent(new Event('change'));
                        return true;
                        """)
                    try await browser.wait("document.querySelector('main [role=option] bdi')?.title === '00000.txt'")
                    // Smooth is the list that has little to draw, wherever it is.
                    let most: Int = try await browser.script(
                        """
                        const scroller = document.querySelector(".scroller"), frame = () => new Promise(requestAnimationFrame);
                        let most = 0;
                        return (async () => {
                            for (let step = 0; step < 50; step++) {
                                scroller.scrollTop = scroller.scrollHeight * step / 50;
                                await frame();
                                await frame();
                                most = Math.max(most, scroller.querySelectorAll("[role=option]").length);
                            }
                            return most;
                        })();
                        """)
                    #expect((1...100).contains(most), "\(most)")
                    let _: Bool = try await browser.script("document.querySelector('.scroller').focus(); return true")
                    try await browser.press("Home", "Space")
                    try await browser.wait(for: "00000.txt", in: "#preview h2")
                    try await browser.press("Escape")
                    try await browser.press("Home", "End")
                    try await browser.wait(
                        "[...document.querySelectorAll('main [role=option] bdi')].some(node => node.title === '09999.txt')"
                    )
                    let after: Int = try await browser.script("return document.querySelectorAll('main *').length")
                    #expect(after < 1_500, "\(after)")
                }
            }
        }
    }
}
