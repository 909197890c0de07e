import Foundation
import Subprocess
import Testing

/// A foreign site on this machine, by `Tests/Browsers/foreign.py`.
private struct ForeignSite: Sendable {
    let running: RunningProgram
    let port: Int

    /// The requests until now, without those for an icon.
    func requests() async -> [String] {
        await running.transcript.text.split(separator: "\n").map(String.init).filter {
            !$0.hasPrefix("port") && !$0.contains("favicon")
        }
    }
}

extension Host {
    /// Serves the files of a folder on loopback of this host.
    /// - Parameter user: the words that make a program another user's.
    fileprivate func withForeignSite(
        _ folder: String, as user: [String] = [], _ body: @Sendable @escaping (ForeignSite) async throws -> Void
    ) async throws {
        let words = user + ["/usr/bin/python3", "-B", Browser.scripts + "foreign.py", folder]
        try await withProgram("/usr/bin/env", words, signal: .terminate) { running in
            let port = try await running.transcript.first("a port") { text in
                text.firstMatch(of: /port (\d+)\n/).flatMap { Int($0.1) }
            }
            try await body(ForeignSite(running: running, port: port))
        }
    }
}

extension BrowserDeskTests {
    /// Only the user's own window reaches the desk.
    @Suite("The border of the desk")
    struct Border {
        @Test("a page of another site in the same browser reads nothing of the desk and changes nothing")
        func foreign() async throws {
            try await DeskStage.take(isAttacked: true) { stage in
                let browser = stage.browser
                try stage.write(
                    "site/index.html", Data("<!doctype html><script type=module src=/attack.js></script><body>".utf8))
                try FileManager.default.copyItem(
                    atPath: Browser.scripts + "attack.js", toPath: stage.folder + "/site/attack.js")
                try await stage.withDesk { desk, _ in
                    // The desk's own page may do it: else the test would show nothing.
                    let own =
                        "fetch('/visibility', {method: 'POST', headers: {'content-type': 'application/json', 'waft-token': sessionStorage.token}, body: \(Self.everyone)})"
                    let _: Bool = try await browser.script(
                        "\(own).then(a => a.text()).then(text => {window.own = text}); return true")
                    try await browser.wait("window.own?.includes('\"exit\":0')")
                    let previews = try await desk.previews()
                    try await desk.host.withForeignSite(stage.folder + "/site") { site in
                        for name in ["127.0.0.1", "localhost", DeskStageTrait.foreignName] {
                            try await browser.open("http://\(name):\(site.port)/#\(desk.base)%20\(previews)")
                            try await browser.wait("window.isOver")
                            let results: [String: String] = try await browser.script("return window.results")
                            #expect(results.count == 22, "\(results.keys)")
                            for (way, found) in results.sorted(by: { $0.key < $1.key }) {
                                #expect(
                                    !found.hasPrefix("read") && !found.hasPrefix("open"), "\(name), \(way): \(found)")
                            }
                            for way in ["simple", "json", "socket", "events", "scripts", "module", "picture", "icon"] {
                                #expect(results[way] == "refused", "\(name), \(way): \(results[way] ?? "")")
                            }
                            #expect(results["frame"] == "frames 0")
                            let messages = try await browser.messages()
                            #expect(messages.contains { $0.contains("frame-ancestors") }, "\(messages)")
                        }
                        #expect(await site.requests().contains("GET /attack.js"))
                    }
                    #expect(try await desk.host.status().visibility == "everyone")
                    let outbox = try await desk.host.run(arguments: ["history", "--sent"])
                    #expect(!outbox.output.contains("study"), "\(outbox.output)")
                    // The window's own token still opens the desk.
                    try await browser.open(desk.base + "/")
                    try await browser.wait("document.querySelector('main.room h1') !== null")
                }
            }
        }

        @Test(
            "a server of another user on another port of this machine gets no cookie from the browser that has the desk"
        )
        func thief() async throws {
            try await DeskStage.take(isAttacked: true) { stage in
                let browser = stage.browser
                // A page asks its own server, so that nothing marks the request as foreign.
                try stage.write(
                    "site/index.html",
                    Data(
                        """
                        <!doctype html><script>
                        fetch("/own").then(() => location.hash ? window.isOver = true : (location.hash = "again", location.reload()));
                        </script>
                        """.utf8))
                for path in [stage.lab.folder, stage.folder, stage.folder + "/site"] {
                    #expect(chmod(path, 0o755) == 0)
                }
                try await stage.withDesk { desk, _ in
                    let nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]
                    try await desk.host.withForeignSite(stage.folder + "/site", as: nobody) { site in
                        for name in ["127.0.0.1", "localhost"] {
                            // The desk has been the page of this window, under the same name.
                            let own = desk.base.replacing("127.0.0.1", with: name)
                            try await browser.open(own + "/")
                            try await browser.open("http://\(name):\(site.port)/")
                            try await browser.wait("window.isOver")
                        }
                        let expected = Array(repeating: ["GET /", "GET /own"], count: 4).flatMap(\.self)
                        #expect(await site.requests() == expected)
                    }
                    // The window that came back needs no secret, one that is opened beside it does.
                    try await browser.open(desk.base + "/")
                    try await browser.wait("document.querySelector('main.room h1') !== null")
                    #expect(try await browser.script("return document.cookie === ''"))
                    let previews = try await desk.previews()
                    try await browser.forget()
                    try await browser.open(desk.base + "/")
                    try await browser.wait(for: "key is spent", in: "main")
                    // The previews have ended with their window.
                    try await eventually {
                        try await desk.host.run(
                            "/usr/bin/curl", ["-s", "-o", "/dev/null", "-w", "%{http_code}", previews + "/items/1"]
                        ).output == "404"
                    }
                }
            }
        }

        private static let everyone = #"'{"visibility":"everyone"}'"#

        @Test("a foreign name that leads to this machine is refused")
        func rebinding() async throws {
            try await DeskStage.take(isAttacked: true) { stage in
                let browser = stage.browser
                try await stage.withDesk { desk, _ in
                    let port = try #require(desk.base.split(separator: ":").last)
                    try await browser.open("http://\(DeskStageTrait.foreignName):\(port)/")
                    #expect(try await browser.text("body").contains("another host"))
                    let _: Bool = try await browser.script(
                        """
                        window.found = [];
                        const ask = (path, more) => fetch(path, more).then(a => found.push(a.status), () => found.push(0));
                        (async () => {
                            await ask("/facts"); await ask("/desk.js");
                            await ask("/visibility", {method: "POST", headers: {"content-type": "application/json"}, body: \(Self.everyone)});
                            await ask("/enter", {method: "POST", headers: {"content-type": "application/json"}, body: "{}"});
                        })();
                        return true;
                        """)
                    try await browser.wait("window.found.length === 4")
                    let found: [Int] = try await browser.script("return window.found")
                    #expect(found == [421, 421, 421, 421])
                    let previews = try await desk.host.run(
                        "/usr/bin/curl",
                        ["-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", "Host: evil.example", desk.base + "/"])
                    #expect(previews.output == "421")
                }
            }
        }

        @Test(
            "a page, a drawing and a picture that are hostile run nothing and ask nobody, also when their preview is a window of its own"
        )
        func previews() async throws {
            try await DeskStage.take(isAttacked: true) { stage in
                let browser = stage.browser
                try await stage.withDesk(["WAFT_ACCEPT": "everyone"]) { desk, receiver in
                    try await desk.host.withForeignSite(stage.folder + "/none") { site in
                        let spy = "http://127.0.0.1:\(site.port)"
                        let page = """
                            <html><head><title>hostile</title><link rel=stylesheet href="\(spy)/css"><meta http-equiv=refresh content="0;url=\(spy)/meta">
                            <body onload="fetch('\(spy)/onload')"><img src="\(spy)/img"><script>fetch("\(spy)/script");top.pwned=parent.pwned=1</script>
                            <iframe src="\(spy)/frame"></iframe><form action="\(spy)/form"><input autofocus onfocus="this.form.submit()"></form>
                            """
                        let drawing = """
                            <svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" onload="fetch('\(spy)/svgload')"><image href="\(spy)/svgimg" width="9" height="9"/>
                            <script>fetch("\(spy)/svgscript");top.pwned=1</script><foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="\(spy)/svgframe"/></foreignObject></svg>
                            """
                        try stage.write("page.html", Data(page.utf8))
                        try stage.write("drawing.svg", Data(drawing.utf8))
                        // The name says picture, the bytes are a page.
                        try stage.write("liar.png", Data(page.utf8))
                        try stage.write("link.txt", Data("javascript:alert(1)".utf8))
                        let names = ["page.html", "drawing.svg", "liar.png", "link.txt"]
                        let sent = try await stage.host("study").run(
                            Programs.waft, ["send"] + names + ["--to", DeskStage.kitchen(receiver)], in: stage.folder)
                        #expect(sent.exit == 0, "\(sent.errors)")
                        try await desk.show("inbox")
                        for name in names {
                            try await desk.preview(name)
                        }
                        #expect(
                            try await browser.script(
                                "return window.pwned === undefined && document.title !== 'hostile'"))
                        let previews = try await desk.previews()
                        try await desk.keepingPreviews {
                            for number in 1...4 {
                                try await browser.open("\(previews)/items/\(number)")
                                #expect(
                                    try await browser.script(
                                        "return window.pwned === undefined && document.title !== 'hostile'"))
                                #expect(
                                    try await browser.script(
                                        "return document.scripts.length + document.forms.length === 0"))
                            }
                        }
                        // Requests come in order: after this one nothing is under way any more.
                        _ = try await desk.host.run("/usr/bin/curl", ["-s", spy + "/end"])
                        try await site.running.transcript.says("GET /end")
                        #expect(await site.requests() == ["GET /end"])
                    }
                }
            }
        }

        @Test("another user of this machine gets nothing, and cannot read the door")
        func otherUser() async throws {
            try await DeskStage.take { stage in
                var kitchen = try stage.host("kitchen")
                // The place of xdg-open: it keeps the door's path until the test has looked.
                try stage.write("bin/xdg-open", Data())
                try writeScript("#!/bin/sh\necho \"$1\" > '\(stage.folder)/door'\n", to: stage.folder + "/bin/xdg-open")
                try writeScript("#!/bin/sh\necho firefox-esr.desktop\n", to: stage.folder + "/bin/xdg-settings")
                kitchen.environment["PATH"] = stage.folder + "/bin:\(BareSystem.programs)"
                let host = kitchen
                let browser = stage.browser
                // The folders above are open: only the desk's own hold others off.
                for path in [stage.lab.folder, stage.folder, host.home] { #expect(chmod(path, 0o755) == 0) }
                try await host.withReceiver(Programs.waftd, []) { _ in
                    try await host.becomeVisible()
                    try await host.withProgram(Programs.waft, ["desk"], signal: .interrupt) { running in
                        let door = stage.folder + "/door"
                        try await eventually {
                            (try? String(contentsOfFile: door, encoding: .utf8).hasSuffix("\n")) == true
                        }
                        let path = try String(contentsOfFile: door, encoding: .utf8).trimmingCharacters(in: .newlines)
                        let page = try String(contentsOfFile: path, encoding: .utf8)
                        let address = try #require(page.firstMatch(of: /(http:\/\/127\.0\.0\.1:\d+)\/#([0-9a-z]+)/))
                        let (base, secret) = (String(address.1), String(address.2))
                        func asNobody(_ words: String...) async throws -> ProgramResult {
                            try await host.run(
                                "/usr/bin/setpriv", ["--reuid=65534", "--regid=65534", "--clear-groups", "--"] + words)
                        }
                        #expect(try await asNobody("id", "-u").output == "65534\n")
                        #expect(try await asNobody("cat", path).exit != 0)
                        #expect(try await asNobody("ls", host.home + "/run").exit != 0)
                        let processes = try await asNobody("sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '")
                        #expect(processes.output.contains("desk") && !processes.output.contains(secret))
                        for (path, more) in [
                            ("/facts", []),
                            ("/contacts/me", ["-H", "content-type: application/json", "-d", "{}"]),
                            ("/enter", ["-H", "content-type: application/json", "-d", "{\"secret\":\"\"}"]),
                            ("/facts", ["-H", "waft-token: undefined"]),
                        ] {
                            let words =
                                ["curl", "-s", "--max-time", "10", "-w", " %{http_code}"] + more + [base + path]
                            let answer = try await host.run(
                                "/usr/bin/setpriv", ["--reuid=65534", "--regid=65534", "--clear-groups", "--"] + words)
                            #expect(answer.output.hasSuffix(" 403"), "\(path): \(answer.output)")
                            #expect(!answer.output.contains("kitchen"))
                        }
                        // The owner's browser goes through the door.
                        try await browser.open("file://" + path)
                        try await browser.wait("document.querySelector('main.room h1') !== null")
                        let seen: String = try await browser.script("return location.href + document.cookie")
                        #expect(seen.hasPrefix(base) && !seen.contains(secret), "\(seen)")
                    }
                }
            }
        }

        @Test("a secret opens one window; a second says that its key is spent")
        func spent() async throws {
            try await DeskStage.take { stage in
                try await stage.withDesk { desk, _ in
                    // The same window has its token, and needs no secret.
                    try await stage.browser.open(desk.base + "/#" + desk.secret)
                    try await stage.browser.wait("document.querySelector('main.room h1') !== null")
                    try await stage.browser.forget()
                    try await stage.browser.open(desk.base + "/#" + desk.secret)
                    try await stage.browser.wait(for: "key is spent", in: "main")
                    #expect(try await stage.browser.text("body").contains("kitchen") == false)
                    #expect(try await stage.browser.text("main").contains("waft desk"))
                }
            }
        }

        @Test("a handler without a sandbox that finds the port gets nothing")
        func handler() async throws {
            try await DeskStage.take { stage in
                var kitchen = try stage.host("kitchen", ["WAFT_ACCEPT": "everyone", "WAFT_HOOK_SANDBOX": "none"])
                let place = try kitchen.useHook(
                    """
                    #!/bin/sh
                    read port < port
                    for path in facts visibility sendings protection/unlock calls/1; do
                        curl -s -m 9 -w ' %{http_code}' -H 'content-type: application/json' "http://127.0.0.1:$port/$path" -d '{"visibility":"off"}' >> found
                        curl -s -m 9 -w ' %{http_code}\\n' "http://127.0.0.1:$port/$path" >> found
                    done
                    for door in "$WAFT_HOME"/run/desk-*/open.html; do cat "$door" >> found; done
                    curl -s -w ' %{http_code}\\n' "http://127.0.0.1:$port/" -o page >> found
                    """, in: stage.folder)
                let (host, browser) = (kitchen, stage.browser)
                try stage.write("a.txt", Data("hello".utf8))
                try await host.withReceiver(Programs.waftd, []) { receiver in
                    try await host.becomeVisible()
                    try await host.withDesk(browser) { desk in
                        try desk.base.split(separator: ":").last!.appending("\n").write(
                            toFile: place + "/port", atomically: false, encoding: .utf8)
                        let sent = try await stage.host("study").run(
                            Programs.waft, ["send", "a.txt", "--to", DeskStage.kitchen(receiver), "--wait", "opened"],
                            in: stage.folder)
                        #expect(sent.exit == 0, "\(sent.errors)")
                        let found = try String(contentsOfFile: place + "/found", encoding: .utf8)
                        let codes = found.matches(of: /\ (\d{3})(?=\n|\{)/).map { String($0.1) }
                        #expect(codes.dropLast().allSatisfy { $0 == "403" } && codes.last == "200", "\(found)")
                        #expect(
                            codes.count == 11 && !found.contains("kitchen") && !found.contains(desk.secret), "\(found)")
                        #expect(try await host.status().visibility == "everyone")
                    }
                }
            }
        }
    }
}
