import Foundation
import Subprocess
import Testing

/// The desk as programs see it; the tests with browsers are called `Browser…`.
@Suite("The desk", .timeLimit(.minutes(2)))
struct DeskTests {
    @Test("without the secret nothing is told, and the secret opens one window")
    func secret() async throws {
        try await withKitchen { kitchen, _, _ in
            try await withDesk(kitchen) { desk in
                #expect(try await desk.curl(desk.base + "/").status == "200")
                #expect(try await desk.curl(desk.base + "/facts").status == "403")
                #expect(try await desk.post("/contacts/me", "{}").status == "403")
                #expect(try await desk.post("/enter", #"{"secret":"00000000000000000000000000"}"#).status == "403")
                try await desk.enter()
                #expect(try await desk.curl(desk.base + "/facts").body.contains("\"name\""))
                let second = try await desk.curl(
                    "-H", "content-type: application/json", "-d", "{\"secret\":\"\(desk.secret)\"}",
                    desk.base + "/enter", with: false)
                #expect(second.status == "403", "\(second)")
            }
        }
    }

    @Test("a page of another site, another name of this host, and a form are refused, also with the token")
    func foreign() async throws {
        try await withKitchen { kitchen, _, _ in
            try await withDesk(kitchen) { desk in
                try await desk.enter()
                let call = #"{"visibility":"everyone"}"#
                for header in ["Origin: http://evil.example", "Origin: null", "Sec-Fetch-Site: cross-site"] {
                    #expect(try await desk.post("/visibility", call, ["-H", header]).status == "403", "\(header)")
                }
                #expect(try await desk.post("/visibility", call, ["-H", "Host: evil.example"]).status == "421")
                let form = try await desk.curl("-d", call, desk.base + "/visibility")
                #expect(form.status == "415", "\(form)")
                let socket = try await desk.curl(
                    "-H", "Connection: Upgrade", "-H", "Upgrade: websocket", "-H", "Origin: http://evil.example",
                    desk.base + "/visibility")
                #expect(socket.status == "403", "\(socket)")
            }
        }
    }

    @Test("a question is answered through the desk, and the item is shown from another origin")
    func answering() async throws {
        try await withKitchen { kitchen, study, receiver in
            try await withDesk(kitchen) { desk in
                try await desk.enter()
                try "<script>alert(1)</script>".write(
                    toFile: study.home + "/page.html", atomically: false, encoding: .utf8)
                async let sending = study.run(arguments: ["send", study.home + "/page.html", "--to", receiver.address])
                try await eventually { try await desk.call("offers").contains("\"event\":\"offer\"") }
                #expect(try await desk.call("offers/accept", #"{"offer":1}"#).contains("\"event\":\"accepted\""))
                #expect(try await sending.exit == 0)
                let facts = try await desk.curl(desk.base + "/facts").body
                let previews = try #require(facts.replacing("\\/", with: "/").firstMatch(of: /http:[^"]*/)?.output)
                #expect(try await desk.curl(previews + "/items/1").status == "404")
                try await desk.following("/window") { lines in
                    try await lines.says("window")
                    let shown = try await desk.curl("-i", previews + "/items/1", with: false)
                    #expect(shown.status == "200" && shown.body.contains("<script>"), "\(shown)")
                    #expect(shown.body.lowercased().contains("content-type: text/plain"), "\(shown)")
                    #expect(shown.body.contains("sandbox; default-src 'none'"), "\(shown)")
                    let guessed = previews.prefix(previews.count - 26) + String(repeating: "0", count: 26) + "/items/1"
                    #expect(try await desk.curl(String(guessed), with: false).status == "404")
                }
                // The path ends with the window.
                try await eventually { try await desk.curl(previews + "/items/1", with: false).status == "404" }
            }
        }
    }

    @Test("a file that the browser hands over goes through to the peer, and is nowhere on the way")
    func through() async throws {
        try await withKitchen { kitchen, study, _ in
            try await study.withReceiver { peer in
                try await withDesk(kitchen) { desk in
                    try await desk.enter()
                    let bytes = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
                    let path = study.home + "/photo.bin"
                    try bytes.write(to: URL(fileURLWithPath: path))
                    let begun = try await desk.post(
                        "/sendings",
                        #"{"to":"\#(peer.address)","items":[{"name":"photo.bin","size":3000000}]}"#)
                    let name = try #require(begun.body.firstMatch(of: /"sending":"([0-9a-z]+)"/)?.1)
                    async let following = desk.curl("-N", desk.base + "/sendings/\(name)")
                    try await eventually {
                        try await desk.curl("-T", path, desk.base + "/sendings/\(name)/items/0").status == "200"
                    }
                    let lines = try await following.body
                    #expect(lines.contains("\"event\":\"stored\"") && lines.contains("\"exit\":0"), "\(lines)")
                    #expect(FileManager.default.contents(atPath: peer.inbox + "/photo.bin") == bytes)
                    #expect(try await desk.curl(desk.base + "/sendings/\(name)").status == "404")
                }
            }
        }
    }

    @Test("a long text is shown to its first mebibyte")
    func lengths() async throws {
        try await withKitchen { kitchen, study, receiver in
            try await kitchen.allow(study, "Study", ["--policy", "accept"])
            let text = String(repeating: "0123456789abcde\n", count: 100_000)
            try text.write(toFile: study.home + "/long.txt", atomically: false, encoding: .utf8)
            let sent = try await study.run(arguments: ["send", study.home + "/long.txt", "--to", receiver.address])
            #expect(sent.exit == 0, "\(sent.errors)")
            try await withDesk(kitchen) { desk in
                try await desk.enter()
                let facts = try await desk.curl(desk.base + "/facts").body
                let previews = try #require(facts.replacing("\\/", with: "/").firstMatch(of: /http:[^"]*/)?.output)
                try await desk.following("/window") { lines in
                    try await lines.says("window")
                    let shown = try await desk.curl(previews + "/items/1", with: false)
                    #expect(shown.status == "200" && shown.body.utf8.count == 1 << 20, "\(shown.status)")
                }
            }
        }
    }

    @Test("a desk that was killed leaves nothing that the next one does not remove")
    func killed() async throws {
        try await withKitchen { kitchen, _, _ in
            let killed = try await kitchen.withProgram(Programs.waft, ["desk", "--no-open"], signal: .kill) { running in
                try await running.transcript.says("http://127.0.0.1:")
            }
            #expect(killed.exit == 137)
            let run = kitchen.home + "/run"
            #expect(try FileManager.default.contentsOfDirectory(atPath: run).count { $0.hasPrefix("desk-") } == 1)
            // While a desk lives, another leaves its folder alone.
            try await withDesk(kitchen) { first in
                #expect(try FileManager.default.contentsOfDirectory(atPath: run).count { $0.hasPrefix("desk-") } == 1)
                let second = try await kitchen.withProgram(
                    Programs.waft, ["desk", "--no-open"], signal: .interrupt
                ) { try await $0.transcript.says("http://127.0.0.1:") }
                #expect(second.exit == 0)
                try await first.enter()
                #expect(try FileManager.default.contentsOfDirectory(atPath: run).count { $0.hasPrefix("desk-") } == 1)
            }
        }
    }

    @Test("a window makes the calls of the table, and changes no setting that names a program")
    func calls() async throws {
        try await withKitchen { kitchen, _, _ in
            try await withDesk(kitchen) { desk in
                try await desk.enter()
                for path in ["/verb", "/config/edit", "/desk", "/receive", "/contacts/", "/handlers/add"] {
                    #expect(try await desk.post(path, "{}").status == "404", "\(path)")
                }
                #expect(try await desk.post("/contacts/block", "{}").status == "400")
                let relative = try await desk.post("/sendings", #"{"to":"a","items":[],"paths":["-"]}"#)
                #expect(relative.status == "400", "\(relative)")
                let huge = #"{"item":"/x","isReceived":false,"program":-9223372036854775808}"#
                #expect(try await desk.call("inbox/open-in", huge).contains(#""event":"end""#))
                let hook = try await desk.call("settings/set", #"{"setting":"hook","values":["/bin/tr ue"]}"#)
                #expect(hook.contains(#""exit":77"#) && hook.contains("does not change"), "\(hook)")
                #expect(try await kitchen.run(arguments: ["config", "get", "hook"]).output.contains("tr ue") == false)
                let named = try await desk.call("settings/set", #"{"setting":"name","values":["Nook"]}"#)
                #expect(named.contains(#""event":"settingChanged""#) && named.contains("\"exit\":0"), "\(named)")
            }
        }
    }

    @Test(
        "a handler in a sandbox with network gets nothing of the desk, and with a stolen token no program and no sandbox"
    )
    func sandboxed() async throws {
        try await withKitchen { _, study, _ in
            try await withTemporaryFolder { folder in
                var kitchen = Host.loopback(folder + "/kitchen")
                try FileManager.default.createDirectory(atPath: kitchen.home, withIntermediateDirectories: true)
                kitchen.environment["WAFT_HOOK_NETWORK"] = "true"
                let place = try kitchen.useHook(
                    """
                    #!/bin/sh
                    read base < base
                    read token < token
                    call='{"setting":"hookSandbox","values":["none"]}'
                    for header in 'waft-token: undefined' 'cookie: waft-desk=x' "waft-token: $token"; do
                        curl -s -m 9 -w ' %{http_code}\\n' -H "$header" -H 'content-type: application/json' -d "$call" "$base/settings/set" >> found
                    done
                    """, in: folder)
                let host = kitchen
                try "hello".write(toFile: study.home + "/a.txt", atomically: false, encoding: .utf8)
                try await host.withReceiver { receiver in
                    try await withDesk(host) { desk in
                        try await desk.enter()
                        let token = try String(contentsOfFile: desk.token, encoding: .utf8).split(separator: " ")[1]
                        try token.write(toFile: place + "/token", atomically: false, encoding: .utf8)
                        try (desk.base + "\n").write(toFile: place + "/base", atomically: false, encoding: .utf8)
                        let sent = try await study.run(
                            arguments: ["send", study.home + "/a.txt", "--to", receiver.address, "--wait", "opened"])
                        #expect(sent.exit == 0, "\(sent.errors)")
                        let found = try String(contentsOfFile: place + "/found", encoding: .utf8)
                        #expect(
                            found.matches(of: /\s403\n/).count == 2 && found.contains("does not change this setting"),
                            "\(found)")
                    }
                    let sandbox = try await host.run(arguments: ["config", "get", "hookSandbox"])
                    #expect(sandbox.output.contains("strict"), "\(sandbox)")
                }
            }
        }
    }

    @Test("600 half requests close the desk neither to a new window nor to one that is open")
    func halfRequests() async throws {
        try await withKitchen { kitchen, _, _ in
            try await withDesk(kitchen) { desk in
                try await desk.enter()
                let flood = """
                    import http.client, socket, sys
                    port, token = int(sys.argv[1]), sys.argv[2]
                    window = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
                    def ask(connection, fields):
                        connection.request("GET", "/facts" if fields else "/", headers=fields)
                        answer = connection.getresponse()
                        answer.read()
                        return answer.status
                    seen = [ask(window, {"waft-token": token})]
                    halves = []
                    for number in range(600):
                        half = socket.create_connection(("127.0.0.1", port), timeout=20)
                        try:
                            half.sendall(b"POST /enter HTTP/1.1\\r\\nhost: 127.0.0.1:%d\\r\\n" % port)
                            if number % 2:
                                half.sendall(b"content-type: application/json\\r\\ncontent-length: 9\\r\\n\\r\\n{")
                        except OSError:
                            pass  # It gave way to another one already.
                        halves.append(half)
                        if number % 100 == 99:
                            seen.append(ask(window, {"waft-token": token}))
                            seen.append(ask(http.client.HTTPConnection("127.0.0.1", port, timeout=20), {}))
                    print(seen)
                    """
                let token = try String(contentsOfFile: desk.token, encoding: .utf8).split(separator: " ")[1]
                let port = try #require(desk.base.split(separator: ":").last)
                let seen = try await kitchen.run(
                    "/usr/bin/python3", ["-c", flood, String(port), token.trimmingCharacters(in: .newlines)])
                #expect(seen.output == "[\((0..<13).map { _ in "200" }.joined(separator: ", "))]\n", "\(seen)")
            }
        }
    }

    @Test("a handler cannot open a desk")
    func handler() async throws {
        try await withTemporaryFolder { folder in
            var kitchen = Host.loopback(folder + "/kitchen")
            try FileManager.default.createDirectory(atPath: kitchen.home, withIntermediateDirectories: true)
            let place = try kitchen.useHook(
                "#!/bin/sh\n'\(Programs.waft)' desk --no-open >desk.out 2>&1; echo $? >desk.exit\n", in: folder)
            kitchen.environment["WAFT_HOOK_SANDBOX"] = "none"
            let study = Host.loopback(folder + "/study")
            try FileManager.default.createDirectory(atPath: study.home, withIntermediateDirectories: true)
            try "hello".write(toFile: study.home + "/a.txt", atomically: false, encoding: .utf8)
            try await kitchen.withReceiver { receiver in
                let sent = try await study.run(
                    arguments: ["send", study.home + "/a.txt", "--to", receiver.address, "--wait", "opened"])
                #expect(sent.exit == 0, "\(sent.errors)")
            }
            #expect(try String(contentsOfFile: place + "/desk.exit", encoding: .utf8) == "77\n")
        }
    }
}
