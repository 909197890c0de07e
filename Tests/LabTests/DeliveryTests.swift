import Foundation
import Subprocess
import Testing

/// Each arrived item reaches the right program, reliably.
@Suite("Delivery to handlers", .serialized)
struct DeliveryTests {
    /// A receiver's host with a folder in which handlers may write.
    private struct Kitchen {
        let folder: String
        var host: Host
        /// Where handlers of the tests write.
        let out: String
        let study: Host

        init(_ folder: String) throws {
            self.folder = folder
            host = .loopback(folder + "/kitchen")
            out = folder + "/out"
            study = .loopback(folder + "/study")
            try FileManager.default.createDirectory(atPath: out, withIntermediateDirectories: true)
        }

        /// Installs a script that gets its writable folder as `$OUT`.
        func add(_ name: String, _ script: String, opens: [String] = ["--type", "public.image"]) async throws {
            let path = "\(folder)/\(name).sh"
            try writeScript("#!/bin/sh\nOUT='\(out)'\n" + script + "\n", to: path)
            let words = ["handlers", "add", "--name", name, "--run", path, "--writable", out]
            let outcome = try await host.run(arguments: words + opens)
            try #require(outcome.exit == 0, "\(outcome.errors)")
        }

        /// Puts a bundle into the user's folder, as a package would.
        func install(_ name: String, _ script: String, keys: String) throws {
            let bundle = "\(host.home)/handlers/\(name).handler"
            try FileManager.default.createDirectory(atPath: bundle, withIntermediateDirectories: true)
            try writeScript(script, to: bundle + "/run")
            let plist = """
                <?xml version="1.0" encoding="UTF-8"?>
                <plist version="1.0"><dict>
                <key>CFBundleIdentifier</key><string>org.example.\(name)</string>
                <key>CFBundleName</key><string>\(name)</string>
                <key>CFBundleExecutable</key><string>run</string>
                <key>CFBundleDocumentTypes</key><array><dict>
                <key>LSItemContentTypes</key><array><string>public.image</string></array></dict></array>
                <key>WaftWritablePaths</key><array><string>\(out)</string></array>
                \(keys)
                </dict></plist>
                """
            try plist.write(toFile: bundle + "/Info.plist", atomically: false, encoding: .utf8)
        }

        func send(_ names: [String], _ flags: [String] = [], to running: RunningReceiver) async throws -> ProgramResult
        {
            for name in names { try png.write(to: URL(fileURLWithPath: folder + "/" + name)) }
            let paths = names.map { folder + "/" + $0 }
            return try await study.run(arguments: ["send"] + paths + flags + ["--json", "--to", running.address])
        }

        /// The lines that handlers have written.
        func lines(_ file: String = "record") -> [String] {
            let text = (try? String(contentsOfFile: out + "/" + file, encoding: .utf8)) ?? ""
            return text.split(separator: "\n").map(String.init)
        }
    }

    private func withKitchen(_ body: @escaping @Sendable (Kitchen) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in try await body(Kitchen(folder)) }
    }

    @Test("an added handler gets items of its types, others do not, and --wait opened has its answer")
    func added() async throws {
        try await withKitchen { kitchen in
            try await kitchen.add("Photos", #"echo "$1 $WAFT_NAME $WAFT_TYPE $WAFT_ATTEMPT" >> "$OUT/record""#)
            try await kitchen.host.withReceiver { running in
                let outcome = try await kitchen.send(["a.png", "b.png"], ["--wait", "opened"], to: running)
                #expect(outcome.exit == 0, "\(outcome.errors)")
                #expect(outcome.events.filter { $0.event == "opened" }.count == 2)
                #expect(kitchen.lines() == ["open-url a.png public.png 1", "open-url b.png public.png 1"])
                let text = try await kitchen.study.run(
                    arguments: ["send", "--text", "hello", "--wait", "opened", "--to", running.address])
                #expect(text.exit == 16)
                #expect(text.errors.contains("but no handler was asked"), "\(text.errors)")
                let again = try await kitchen.send(["a.png"], ["--wait", "opened"], to: running)
                #expect(again.exit == 0, "its handler said yes again")
                #expect(kitchen.lines().last == "open-url a.png public.png 1" && kitchen.lines().count == 3)
            }
        }
    }

    @Test("each transfer of a text or a URL is an arrival, and its handler is called for each")
    func messages() async throws {
        try await withKitchen { kitchen in
            try await kitchen.add(
                "Notes", #"echo "$WAFT_NAME" >> "$OUT/record""#,
                opens: ["--type", "public.text", "--type", "public.url"])
            try await kitchen.host.withReceiver { running in
                for message in [["--url", "https://x.example/?Buy"], ["--text", "hello there"]] {
                    for _ in 1...2 {
                        let sent = try await kitchen.study.run(
                            arguments: ["send"] + message + ["--wait", "opened", "--to", running.address])
                        #expect(sent.exit == 0 && !sent.output.contains("already"), "\(sent.output) \(sent.errors)")
                    }
                }
                #expect(kitchen.lines().count == 4)
                #expect(Set(try running.names()).count == 4)
            }
        }
    }

    @Test("a file that is sent again has one copy, and one call for each word and each question about it")
    func sentAgain() async throws {
        try await withKitchen { kitchen in
            try await kitchen.add(
                "Photos", #"echo "$WAFT_ATTEMPT" >> "$OUT/record"; exit $(cat "$OUT/exit" || echo 0)"#)
            try await kitchen.host.withReceiver { running in
                let first = try await kitchen.send(["a.png"], ["--note", "look", "--wait", "opened"], to: running)
                #expect(first.exit == 0, "\(first.errors)")
                // The same words, and nobody waits for an answer: nothing new.
                let silent = try await kitchen.send(["a.png"], ["--note", "look"], to: running)
                #expect(silent.exit == 0 && kitchen.lines().count == 1)
                try "1".write(toFile: kitchen.out + "/exit", atomically: false, encoding: .utf8)
                let refused = try await kitchen.send(["a.png"], ["--note", "look", "--wait", "opened"], to: running)
                #expect(refused.exit == 16, "the answer is that of this call: \(refused.output)")
                #expect(refused.output.contains("\"sentAgain\":true"), "\(refused.output)")
                let urgent = try await kitchen.send(["a.png"], ["--note", "now"], to: running)
                #expect(urgent.exit == 0)
                _ = try await running.log.first("failed") { $0.arrival == 3 }
                #expect(kitchen.lines().count == 3)
                #expect(try running.names() == ["a.png"])
                let shown = try await kitchen.host.run(arguments: ["inbox", "show", "3"])
                #expect(
                    shown.output.contains("sent again it has been in the Inbox since arrival 1"), "\(shown.output)")
                #expect(shown.output.contains("now"), "\(shown.output)")
                let listed = try await kitchen.host.run(arguments: ["inbox", "list", "--json"])
                #expect(listed.output.split(separator: "\n").filter { $0.contains("a.png") }.count == 1)
                // The item leaves the Inbox with all calls for it, whichever of them is named.
                let removed = try await kitchen.host.run(arguments: ["inbox", "remove", "3"])
                #expect(removed.exit == 0, "\(removed.errors)")
                #expect(try running.names() == [])
                let history = try await kitchen.host.run(arguments: ["history"])
                #expect(history.output.components(separatedBy: "removed on").count == 4, "\(history.output)")
            }
        }
    }

    @Test("a sender that waits for handlers is told that all is stored, and hears their answers after that")
    func handling() async throws {
        try await withKitchen { kitchen in
            try await kitchen.add("Photos", #"while ! test -e "$OUT/go"; do sleep 0.05; done"#)
            try await kitchen.host.withReceiver { running in
                let path = kitchen.folder + "/a.png"
                try png.write(to: URL(fileURLWithPath: path))
                let words = ["send", path, "--wait", "opened", "--json", "--to", running.address]
                let sent = try await kitchen.study.withProgram(Programs.waft, words) { sender in
                    try await sender.transcript.says("\"event\":\"handling\"")
                    #expect(try running.names() == ["a.png"])
                    try "".write(toFile: kitchen.out + "/go", atomically: false, encoding: .utf8)
                    try await sender.transcript.says("\"event\":\"opened\"")
                }
                #expect(sent.exit == 0, "\(sent.text)")
                // Ctrl-C ends the wait: everything is stored all the same.
                try FileManager.default.removeItem(atPath: kitchen.out + "/go")
                let text = ["send", path, "--name", "b.png", "--wait", "opened", "--to", running.address]
                var study = kitchen.study
                study.environment["TERM"] = "xterm"
                let left = try await study.atTerminal(text) { sender in
                    try await sender.transcript.says("waiting for its handlers")
                    try await sender.type("\u{03}")
                    try await sender.transcript.says("everything is stored")
                }
                #expect(left.exit == 130, "\(left.text)")
                #expect(try running.names() == ["a.png", "b.png"])
                try "".write(toFile: kitchen.out + "/go", atomically: false, encoding: .utf8)
                _ = try await running.log.first("opened") { $0.path?.hasSuffix("b.png") == true }
                // A receiver that is gone for good has stored everything too.
                try FileManager.default.removeItem(atPath: kitchen.out + "/go")
                let lost = ["send", path, "--name", "c.png", "--wait", "opened", "--timeout", "5", "--json"]
                let alone = try await kitchen.study.withProgram(Programs.waft, lost + ["--to", running.address]) {
                    sender in
                    try await sender.transcript.says("\"event\":\"handling\"")
                    running.signal(.kill)
                }
                #expect(alone.exit == 16 && alone.text.contains("\"stored\":\"c.png\""), "\(alone.text)")
            }
        }
    }

    @Test("the changes by handlers add and remove hold for the next transfer, every time")
    func changes() async throws {
        let rounds = 12
        try await withKitchen { kitchen in
            try await kitchen.host.withReceiver { running in
                let before = try await kitchen.send(["a.png"], ["--wait", "opened"], to: running)
                #expect(before.events.first { $0.stored != nil }?.handlerAnswer == "none")
                for round in 1...rounds {
                    try await kitchen.add("Photos", #"echo "$WAFT_NAME" >> "$OUT/record""#)
                    let with = try await kitchen.send(["b\(round).png"], ["--wait", "opened"], to: running)
                    #expect(with.events.first { $0.stored != nil }?.handlerAnswer == "yes", "\(round): \(with.output)")
                    #expect(try await kitchen.host.run(arguments: ["handlers", "remove", "Photos"]).exit == 0)
                    let after = try await kitchen.send(["c\(round).png"], ["--wait", "opened"], to: running)
                    #expect(
                        after.events.first { $0.stored != nil }?.handlerAnswer == "none", "\(round): \(after.output)")
                }
            }
            #expect(kitchen.lines() == (1...rounds).map { "b\($0).png" })
        }
    }

    @Test("after a no the next handler is asked, and after the last --wait opened exits 16")
    func refusal() async throws {
        try await withKitchen { kitchen in
            try await kitchen.add("First", #"echo first >> "$OUT/record"; exit 1"#, opens: ["--type", "public.png"])
            try await kitchen.add(
                "Second", #"echo second >> "$OUT/record"; case $WAFT_NAME in a*) exit 0 ;; *) exit 1 ;; esac"#)
            try await kitchen.host.withReceiver { running in
                #expect(try await kitchen.send(["a.png"], ["--wait", "opened"], to: running).exit == 0)
                #expect(kitchen.lines() == ["first", "second"])
                let refused = try await kitchen.send(["b.png"], ["--wait", "opened"], to: running)
                #expect(refused.exit == 16, "\(refused.output)")
                #expect(try running.names() == ["a.png", "b.png"], "it stays in the Inbox all the same")
                let shown = try await kitchen.host.run(arguments: ["inbox", "show", "b.png"])
                #expect(shown.output.contains("no handler wants it"), "\(shown.output)")
            }
        }
    }

    @Test("a handler that wants more time is asked again; the sender hears later, and the receiver's user how it went")
    func later() async throws {
        try await withKitchen { kitchen in
            // The second answer comes after the sender has ended with the first one.
            try await kitchen.add(
                "Photos",
                #"""
                echo "$WAFT_ATTEMPT" >> "$OUT/record"
                [ "$WAFT_ATTEMPT" = 2 ] || exit 75
                while ! test -e "$OUT/go"; do sleep 0.05; done
                """#)
            try await kitchen.host.withReceiver { running in
                let outcome = try await kitchen.send(["a.png"], ["--wait", "opened"], to: running)
                #expect(outcome.exit == 16)
                #expect(outcome.events.first { $0.stored != nil }?.handlerAnswer == "later")
                try "".write(toFile: kitchen.out + "/go", atomically: false, encoding: .utf8)
                _ = try await running.log.first("opened")
                #expect(kitchen.lines() == ["1", "2"])
                let shown = try await kitchen.host.run(arguments: ["inbox", "show", "1"])
                #expect(shown.output.contains("exit code 75"), "\(shown.output)")
                #expect(shown.output.contains("delivery   opened"), "\(shown.output)")
            }
        }
    }

    @Test("a failure is kept with its exit code and the end of the output, and waft inbox retry begins again")
    func failure() async throws {
        try await withKitchen { kitchen in
            try await kitchen.add(
                "Photos",
                #"""
                [ "$WAFT_ATTEMPT" = 1 ] && { echo "the album is full" >&2; exit 9; }
                echo "$WAFT_NAME" >> "$OUT/record"
                """#)
            try await kitchen.host.withReceiver { running in
                let outcome = try await kitchen.send(["a.png"], ["--wait", "opened"], to: running)
                #expect(outcome.exit == 16)
                let failed = try await running.log.first("failed")
                #expect(failed.exitCode == 9)
                let status = try await kitchen.host.run(arguments: ["status"])
                #expect(status.output.contains("1 failed"), "\(status.output)")
                let shown = try await kitchen.host.run(arguments: ["inbox", "show", "a.png"])
                #expect(shown.output.contains("the album is full"), "\(shown.output)")
                #expect(shown.output.contains("exit code 9"))
                // By its name; its number works too.
                let retried = try await kitchen.host.run(arguments: ["inbox", "retry", "a.png"])
                #expect(retried.exit == 0 && retried.output == "1  a.png: opened by Photos\n", "\(retried)")
                _ = try await running.log.first("opened")
                #expect(kitchen.lines() == ["a.png"])
                let unknown = try await kitchen.host.run(arguments: ["inbox", "retry", "99"])
                #expect(unknown.exit == 66)
                #expect(unknown.errors.contains("no item is named or numbered \"99\""), "\(unknown.errors)")
            }
            #expect(try await kitchen.host.run(arguments: ["inbox", "retry", "nope"]).exit == 66)
            let stopped = try await kitchen.host.run(arguments: ["inbox", "retry", "1"])
            #expect(stopped.exit == 69)
            let history = try await kitchen.host.run(arguments: ["history"])
            #expect(history.output.contains("a.png") && history.output.contains("opened"), "\(history.output)")
        }
    }

    @Test("waft inbox retry says the answers of the handlers, and with --no-wait it waits for none")
    func retrying() async throws {
        try await withKitchen { kitchen in
            try await kitchen.add(
                "Photos",
                #"""
                case $WAFT_NAME in a*) exit 0 ;; b*) exit 75 ;; *) echo "the album is full" >&2; exit 9 ;; esac
                """#)
            try await kitchen.host.withReceiver { running in
                #expect(try await kitchen.send(["a.png", "b.png", "c.png"], [], to: running).exit == 0)
                for event in ["opened", "deferred", "failed"] { _ = try await running.log.first(event) }
                let all = try await kitchen.host.run(arguments: ["inbox", "retry", "--numbers", "1-3"])
                #expect(all.exit == 16 && all.output == "1  a.png: opened by Photos\n", "\(all)")
                #expect(all.errors.contains("waft: 2  b.png: Photos said later"), "\(all)")
                #expect(all.errors.contains("waft: 3  c.png: Photos failed: exit code 9"), "\(all)")
                let events = try await kitchen.host.run(arguments: ["inbox", "retry", "3", "--json"]).events
                #expect(events.map(\.event) == ["retried", "failed"] && events.last?.exitCode == 9)
                let unseen = try await kitchen.host.run(arguments: ["inbox", "retry", "c.png", "--no-wait"])
                #expect(unseen.exit == 0 && unseen.output == "3  c.png: given to its handler again\n", "\(unseen)")
            }
        }
    }

    @Test("a handler that is out of time is ended with all that it started")
    func timeLimit() async throws {
        try await withKitchen { kitchen in
            let script = """
                #!/bin/sh
                [ "$WAFT_ATTEMPT" = 1 ] || exit 75
                trap '' TERM
                (trap '' TERM; sleep 1000) &
                echo $! > '\(kitchen.out)/pid'
                sleep 1000
                """
            try kitchen.install("slow", script, keys: "<key>WaftTimeout</key><integer>3</integer>")
            try await kitchen.host.withReceiver { running in
                let outcome = try await kitchen.send(["a.png"], ["--wait", "opened"], to: running)
                #expect(outcome.events.first { $0.stored != nil }?.handlerAnswer == "later", "\(outcome.output)")
                let pid = try #require(kitchen.lines("pid").first.flatMap { Int32($0) })
                // The process that inherits orphans may leave them as zombies for a while.
                let status = try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
                #expect(status?.contains("State:\tZ") != false, "the grandchild is gone")
                let shown = try await kitchen.host.run(arguments: ["inbox", "show", "1"])
                #expect(shown.output.contains("out of time"), "\(shown.output)")
            }
        }
    }

    // MARK: Launching

    @Test("a handler by the transfer is called once, with all items in its document")
    func perTransfer() async throws {
        try await withKitchen { kitchen in
            try kitchen.install(
                "albums",
                "#!/bin/sh\necho \"$1 $WAFT_ITEMS\" >> '\(kitchen.out)/record'\ncat > '\(kitchen.out)/document'\n",
                keys: "<key>WaftLaunch</key><string>perTransfer</string>")
            try await kitchen.host.withReceiver { running in
                let names = (1...5).map { "\($0).png" }
                let outcome = try await kitchen.send(names, ["--wait", "opened"], to: running)
                #expect(outcome.exit == 0, "\(outcome.errors) \(outcome.output)")
                #expect(outcome.events.filter { $0.event == "opened" }.count == 5)
            }
            #expect(kitchen.lines() == ["open-url 5"])
            struct Document: Decodable {
                struct Item: Decodable { var name: String }
                var items: [Item]
            }
            let data = try Data(contentsOf: URL(fileURLWithPath: kitchen.out + "/document"))
            let document = try JSONDecoder().decode(Document.self, from: data)
            #expect(document.items.map(\.name) == (1...5).map { "\($0).png" })
        }
    }

    @Test("a handler that does not want to be launched is not asked to open anything")
    func launchCalls() async throws {
        try await withKitchen { kitchen in
            try kitchen.install(
                "picky",
                "#!/bin/sh\necho \"$1\" >> '\(kitchen.out)/record'\n[ \"$1\" != did-finish-launching ]\n",
                keys: """
                    <key>WaftLaunchCalls</key><array><string>will-finish-launching</string>
                    <string>did-finish-launching</string></array>
                    """)
            try await kitchen.host.withReceiver { running in
                let outcome = try await kitchen.send(["a.png"], ["--wait", "opened"], to: running)
                #expect(outcome.exit == 16)
            }
            #expect(kitchen.lines() == ["will-finish-launching", "did-finish-launching"])
        }
    }

    @Test("a resident handler is started once, answers line by line, and is started again after a crash")
    func resident() async throws {
        try await withKitchen { kitchen in
            let script = """
                #!/bin/sh
                echo "started $1 $2" >> '\(kitchen.out)/record'
                while read -r line; do
                    case $line in
                        *'"name":"crash'*)
                            [ -e '\(kitchen.out)/crashed' ] || { : > '\(kitchen.out)/crashed'; exit 7; }
                            while [ ! -e '\(kitchen.out)/go' ]; do sleep 0.05; done ;;
                    esac
                    echo '{"answer":"yes"}'
                done
                """
            try kitchen.install("stays", script, keys: "<key>WaftLaunch</key><string>resident</string>")
            try await kitchen.host.withReceiver { running in
                let first = try await kitchen.send(["a.png", "b.png", "c.png"], ["--wait", "opened"], to: running)
                #expect(first.exit == 0, "\(first.errors) \(first.output)")
                #expect(kitchen.lines() == ["started open-url -"])
                let crashed = try await kitchen.send(["crash.png"], ["--wait", "opened"], to: running)
                #expect(crashed.exit == 16)
                try "".write(toFile: kitchen.out + "/go", atomically: false, encoding: .utf8)
                _ = try await running.log.first("opened") { $0.name == "crash.png" }
                #expect(kitchen.lines().count == 2)
            }
        }
    }

    // MARK: Hostile handlers and items

    @Test("names full of shell characters reach the handler as they are, and nothing of them is executed")
    func shellCharacters() async throws {
        try await withKitchen { kitchen in
            let names = ["$(touch pwned).png", "`id`;.png", "-rf *.png", "a'b\"c.png", "a&&b|c>d.png", "é \\n.png"]
            try await kitchen.add(
                "Photos", #"printf '%s\n' "$WAFT_NAME" >> "$OUT/record"; cat "$WAFT_FILE" > /dev/null"#)
            try await kitchen.host.withReceiver { running in
                let outcome = try await kitchen.send(names, ["--wait", "opened"], to: running)
                #expect(outcome.exit == 0, "\(outcome.errors) \(outcome.output)")
            }
            #expect(kitchen.lines() == names)
            let bundle = try FileManager.default.contentsOfDirectory(
                atPath: kitchen.host.home + "/handlers/Photos.handler")
            #expect(!bundle.contains("pwned"))
        }
    }

    @Test("no command line of the receiver or its handlers has anything in it but the call and the URL")
    func commandLines() async throws {
        try await withKitchen { kitchen in
            // The handler examines every process that the receiver has started, itself and its launcher among them.
            try await kitchen.add(
                "Photos",
                #"""
                for place in /proc/[0-9]*; do
                    tr '\0' ' ' < "$place/cmdline" >> "$OUT/all" 2> /dev/null && echo >> "$OUT/all"
                done
                tr '\0' ' ' < /proc/$$/cmdline > "$OUT/own"
                """#)
            try await kitchen.host.withReceiver { running in
                try "SECRET-CONTENTS".write(toFile: kitchen.folder + "/note", atomically: false, encoding: .utf8)
                let outcome = try await kitchen.send(["a.png"], ["--wait", "opened"], to: running)
                #expect(outcome.exit == 0, "\(outcome.errors)")
                let key = try FileManager.default.contentsOfDirectory(atPath: kitchen.host.home + "/state")
                    .compactMap { try? String(contentsOfFile: kitchen.host.home + "/state/" + $0, encoding: .utf8) }
                    .flatMap { $0.split(separator: "\n") }.filter { !$0.hasPrefix("-----") && $0.count > 20 }
                #expect(!key.isEmpty, "the identity is a text file with lines that can be looked for")
                let all = kitchen.lines("all").joined(separator: "\n")
                #expect(all.contains("open-url"))
                for line in key { #expect(!all.contains(line)) }
                #expect(!all.contains(running.id), "who sent it is for the environment and the document")
                let file = URL(fileURLWithPath: running.inbox + "/a.png").absoluteString
                #expect(kitchen.lines("own").first?.hasSuffix("open-url \(file) ") == true)
            }
        }
    }

    @Test("a handler in its sandbox writes its data folder and the named ones, empties the Inbox, and nothing else")
    func sandbox() async throws {
        try await withKitchen { kitchen in
            let script = """
                try() { if (eval "$2") 2>> "$OUT/complaints"; then echo "$1 yes"; else echo "$1 no"; fi >> "$OUT/record"; }
                try bundle ': > ./own'
                try data ': > "$WAFT_DATA/x"'
                try temporary ': > "$TMPDIR/x"'
                try writable ': > "$OUT/x"'
                try home ': > "\(kitchen.folder)/home-file"'
                try create ': > "$(dirname "$WAFT_FILE")/new"'
                try change 'chmod u+w "$WAFT_FILE"; echo x >> "$WAFT_FILE"'
                try read 'cat "$WAFT_FILE" > /dev/null'
                try move 'mv "$WAFT_FILE" "$OUT/moved.png"'
                echo x > "\(kitchen.folder)/denied"
                """
            try await kitchen.add("Photos", script + "\nexit 0")
            try await kitchen.host.withReceiver { running in
                let outcome = try await kitchen.send(["a.png"], ["--wait", "opened"], to: running)
                #expect(outcome.exit == 0, "\(outcome.errors)")
                #expect(try running.names() == [])
                let shown = try await kitchen.host.run(arguments: ["inbox", "show", "1"])
                #expect(shown.output.contains("--writable"), "the refusal says what to do: \(shown.output)")
                let status = try await kitchen.host.run(arguments: ["status"])
                #expect(status.output.contains("sandbox          Landlock ABI"))
            }
            #expect(
                kitchen.lines() == [
                    "bundle no", "data yes", "temporary yes", "writable yes", "home no", "create no", "change no",
                    "read yes",
                    "move yes",
                ])
            #expect(try Data(contentsOf: URL(fileURLWithPath: kitchen.out + "/moved.png")) == png)
        }
    }

    @Test("a thousand arrivals in a burst are all delivered, once each and in order, and none is slowed by its handler")
    func burst() async throws {
        try await withKitchen { kitchen in
            try await kitchen.add("Photos", #"read -r gate < "$OUT/gate"; echo "$WAFT_NAME" >> "$OUT/record""#)
            try #require(mkfifo(kitchen.out + "/gate", 0o600) == 0)
            let names = (0..<1_000).map { "\($0).png" }
            try await kitchen.host.withReceiver { running in
                // The gate is still closed: the handlers wait, the transfer does not.
                let outcome = try await kitchen.send(names, to: running)
                #expect(outcome.exit == 0, "\(outcome.errors)")
                #expect(kitchen.lines().isEmpty)
                let gate = open(kitchen.out + "/gate", O_RDWR | O_CLOEXEC)
                defer { close(gate) }
                let line = Array("go\n".utf8)
                for number in 1...1_000 {
                    #expect(write(gate, line, line.count) == line.count)
                    if number % 100 == 0 {
                        _ = try await running.log.first("opened") { $0.name == "\(number - 1).png" }
                    }
                }
                #expect(await running.log.count("opened") == 1_000)
            }
            #expect(kitchen.lines() == names)
        }
    }
}

/// The beginning of a PNG, long enough to be recognised.
let png = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + Array(repeating: 0, count: 64))
