import Foundation
import Subprocess
import Testing

/// The interface of the desk, at work between two machines.
@Suite("The interface of the desk", .timeLimit(.minutes(2)))
struct DeskInterfaceTests {
    @Test("two desks pair by digits: each shows the same, and each window answers")
    func digits() async throws {
        try await withKitchen { kitchen, study, receiver in
            try await withDesk(kitchen) { accepting in
                try await accepting.enter()
                try await withDesk(study) { beginning in
                    try await beginning.enter()
                    try await accepting.following(
                        "/pair", #"{"byCode":false}"#
                    ) { here in
                        try await here.says(#""event":"open""#)
                        let there =
                            #"{"peer":"\#(receiver.address)","name":"Kitchen"}"#
                        try await beginning.following("/pair", there) { there in
                            var digits: [String] = []
                            for (desk, text) in [(accepting, here), (beginning, there)] {
                                digits.append(
                                    try await text.first("digits") { text in
                                        text.firstMatch(of: /"digits":"(\d{6})"/).map { String($0.1) }
                                    })
                                let call = try await text.first("a call") { text in
                                    text.firstMatch(of: /"call":"([0-9a-z]+)"/).map { String($0.1) }
                                }
                                #expect(try await desk.post("/calls/\(call)", #"{"answer":"y"}"#).status == "204")
                            }
                            #expect(Set(digits).count == 1)
                            try await here.says(#""event":"paired""#)
                            try await there.says(#""event":"paired""#)
                            try await there.says(#""exit":0"#)
                        }
                    }
                    #expect(try await beginning.call("contacts").contains("Kitchen"))
                    #expect(try await beginning.post("/calls/0", #"{"answer":"y"}"#).status == "404")
                }
            }
        }
    }

    @Test("a code for pairing is shown as a QR code, and a code that is typed into the other desk pairs")
    func code() async throws {
        try await withKitchen { kitchen, study, receiver in
            try await withDesk(kitchen) { accepting in
                try await accepting.enter()
                try await accepting.following("/pair", #"{"byCode":true}"#) { here in
                    let code = try await here.first("a code") { text in
                        text.firstMatch(of: /"code":"([0-9-]+)"/).map { String($0.1) }
                    }
                    let drawn = try await accepting.post("/qr", #"{"text":"\#(code)"}"#)
                    let rows = drawn.body.matches(of: /[01]{21}/)
                    #expect(drawn.status == "200" && rows.count == 21 && drawn.body.contains("1111111"), "\(drawn)")
                    try await withDesk(study) { beginning in
                        try await beginning.enter()
                        let typed =
                            #"{"peer":"\#(receiver.address)","code":"\#(code)"}"#
                        let paired = try await beginning.post("/pair", typed)
                        #expect(paired.body.contains(#""event":"paired""#), "\(paired)")
                    }
                    try await here.says(#""event":"paired""#)
                }
                let long = String(repeating: "x", count: 600)
                #expect(try await accepting.post("/qr", #"{"text":"\#(long)"}"#).status == "400")
            }
        }
    }

    @Test("the stream tells the visibility at its beginning and at each change, and how long an offer waits")
    func stream() async throws {
        try await withKitchen { kitchen, study, receiver in
            try await withDesk(kitchen) { desk in
                try await desk.enter()
                try "hello".write(toFile: study.home + "/a.txt", atomically: false, encoding: .utf8)
                try await desk.following("/receiver", "{}") { stream in
                    try await stream.says(#""event":"visibility""#)
                    _ = try await kitchen.run(arguments: ["visible", "everyone", "--for", "10m"])
                    try await stream.says(#""visibilityThen":"everyone""#)
                    async let sending = study.run(arguments: ["send", study.home + "/a.txt", "--to", receiver.address])
                    let expires = try await stream.first("a time") { text in
                        text.firstMatch(of: /"expires":"([^"]+)"/).map { String($0.1) }
                    }
                    let rest = try Date(expires, strategy: .iso8601).timeIntervalSinceNow
                    #expect(rest > 60 && rest < 120, "\(rest)")
                    _ = try await desk.call("offers/accept", #"{"offer":1}"#)
                    #expect(try await sending.exit == 0)
                    // From now on the study is not asked about.
                    try await kitchen.allow(study, "Study", ["--policy", "accept"])
                    #expect(
                        try await study.run(arguments: ["send", study.home + "/a.txt", "--to", receiver.address]).exit
                            == 0)
                    let unasked = try await stream.first("an answer without a question") { text in
                        text.split(separator: "\n").first { line in
                            line.contains(#""event":"answered""#) && !line.contains(#""offer":"#)
                        }.map(String.init)
                    }
                    #expect(unasked.contains(#""contact":"Study""#) && unasked.contains(#""count":1"#), "\(unasked)")
                }
            }
        }
    }

    @Test(
        "a transfer that arrives is cancelled: the sender ends with the reason and does not try again, and nothing is stored"
    )
    func cancel() async throws {
        try await withKitchen { kitchen, study, receiver in
            try await kitchen.allow(study, "Study", ["--policy", "accept"])
            let script = study.home + "/slow"
            try writeScript(
                "#!/bin/sh\ncase $1 in\nplaceholder) echo '{\"name\": \"slow.bin\", \"size\": 1000000}' ;;\n"
                    + "item) while head -c 1000 /dev/zero; do sleep 0.1; done ;;\nesac\n", to: script)
            let nothing = try await kitchen.run(arguments: ["offers", "cancel"])
            #expect(nothing.exit == 66 && nothing.errors.contains("nothing is moving"), "\(nothing)")
            let end = try await study.withProgram(
                Programs.waft, ["send", "--source", script, "--to", receiver.address, "--json"]
            ) { _ in
                try await eventually {
                    try await kitchen.run(arguments: ["status", "--json"]).output.contains(#""activeTransfers":1"#)
                }
                let cancelled = try await kitchen.run(arguments: ["offers", "cancel", "--json"])
                #expect(cancelled.exit == 0 && cancelled.output.contains(#""event":"cancelled""#), "\(cancelled)")
            }
            #expect(end.exit != 0 && end.text.contains(#""event":"failed""#), "\(end)")
            try await eventually {
                try await kitchen.run(arguments: ["status", "--json"]).output.contains(#""activeTransfers":0"#)
            }
            #expect(!FileManager.default.fileExists(atPath: receiver.inbox + "/slow.bin"))
        }
    }

    @Test("a folder that the browser packs arrives as a folder, and for one who is away items wait in the outbox")
    func folders() async throws {
        try await withKitchen { kitchen, study, _ in
            try await study.withReceiver { peer in
                try await withDesk(kitchen) { desk in
                    try await desk.enter()
                    let folder = kitchen.home + "/trip"
                    try FileManager.default.createDirectory(
                        atPath: folder + "/b\u{F6}se", withIntermediateDirectories: true)
                    try "one".write(toFile: folder + "/a.txt", atomically: false, encoding: .utf8)
                    try "two".write(toFile: folder + "/b\u{F6}se/c.txt", atomically: false, encoding: .utf8)
                    let tar = kitchen.home + "/trip.tar"
                    #expect(
                        try await kitchen.run("/usr/bin/tar", ["-C", folder, "--format=pax", "-cf", tar, "."]).exit == 0
                    )
                    let item = #"{"name":"trip","kind":"tree","size":6,"entries":4}"#
                    let name = try await desk.begin(#"{"to":"\#(peer.address)","items":[\#(item)]}"#)
                    try await desk.following("/sendings/\(name)") { lines in
                        try await lines.says(#""event":"wanted""#)
                        let put = try await desk.curl("-T", tar, desk.base + "/sendings/\(name)/items/0")
                        #expect(put.status == "200", "\(put)")
                        try await lines.says(#""event":"stored""#)
                    }
                    let stored = try String(contentsOfFile: peer.inbox + "/trip/b\u{F6}se/c.txt", encoding: .utf8)
                    #expect(stored == "two")

                    let waits = try await desk.begin(
                        #"{"to":"nowhere","queue":true,"items":[{"name":"a.txt","size":3}]}"#)
                    try await desk.following("/sendings/\(waits)") { lines in
                        try await lines.says(#""event":"wanted""#)
                        let put = try await desk.curl("-T", folder + "/a.txt", desk.base + "/sendings/\(waits)/items/0")
                        #expect(put.status == "200", "\(put)")
                        try await lines.says(#""event":"queued""#)
                    }
                    #expect(try await desk.call("outbox").contains(#""to":"nowhere""#))
                }
            }
        }
    }

    @Test("bytes that come before the program reads them are not refused")
    func earlyBytes() async throws {
        try await withKitchen { kitchen, study, _ in
            var slow = kitchen
            let programs = kitchen.home + "/bin"
            try FileManager.default.createDirectory(atPath: programs, withIntermediateDirectories: true)
            try writeScript(
                "#!/bin/sh\ncase $1 in data-*) sleep 1 ;; esac\nexec /bin/cat \"$@\"\n", to: programs + "/cat")
            slow.environment["PATH"] = programs + ":\(BareSystem.programs)"
            try "one".write(toFile: kitchen.home + "/a.txt", atomically: false, encoding: .utf8)
            try await study.withReceiver { [slow] peer in
                try await withDesk(slow) { desk in
                    try await desk.enter()
                    let name = try await desk.begin(#"{"to":"\#(peer.address)","items":[{"name":"a.txt","size":3}]}"#)
                    try await desk.following("/sendings/\(name)") { lines in
                        try await lines.says(#""event":"wanted""#)
                        let item = desk.base + "/sendings/\(name)/items/0"
                        let put = try await desk.curl("-T", slow.home + "/a.txt", item)
                        #expect(put.status == "200", "\(put)")
                        try await lines.says(#""event":"stored""#)
                        let again = try await desk.curl("-T", slow.home + "/a.txt", item)
                        #expect(again.status == "409", "\(again)")
                    }
                }
            }
        }
    }

    @Test("the activities for a text are listed by its type, and one of them is done")
    func activities() async throws {
        try await withKitchen { kitchen, _, _ in
            var kitchen = kitchen
            try FileManager.default.createDirectory(
                atPath: kitchen.home + "/bin", withIntermediateDirectories: true)
            try writeScript("#!/bin/sh\nprintf '%s' \"$2\" > \"$WAFT_HOME/printed\"\n", to: kitchen.home + "/bin/lp")
            kitchen.environment["PATH"] = kitchen.home + "/bin:/usr/bin:/bin"
            let printed = kitchen.home + "/printed"
            try await withDesk(kitchen) { desk in
                try await desk.enter()
                let items = #""items":[],"text":"hello""#
                let listed = try await desk.curl(
                    desk.base + "/sendings/\(try await desk.begin("{\(items)}"))/activities")
                #expect(listed.body.contains(#""type":"org.waft.activity.print""#), "\(listed)")
                #expect(listed.body.firstMatch(of: /activity.(airdrop|queue|open-in)/) == nil, "\(listed)")
                let printing = try await desk.begin(#"{"activity":"org.waft.activity.print",\#(items)}"#)
                let done = try await desk.curl("-N", desk.base + "/sendings/\(printing)")
                #expect(done.body.contains(#""event":"completed""#), "\(done)")
                #expect(FileManager.default.fileExists(atPath: printed))
                let unknown = try await desk.begin(#"{"activity":"org.example.none",\#(items)}"#)
                let ended = try await desk.curl("-N", desk.base + "/sendings/\(unknown)")
                #expect(ended.body.contains(#""exit":64"#), "\(ended)")
            }
        }
    }

    @Test("the window learns the family of each type, of those too that a handler declares")
    func families() async throws {
        struct Facts: Decodable {
            var families: [String: [String]]
        }
        try await withKitchen { kitchen, _, _ in
            let bundle = kitchen.home + "/handlers/films.handler"
            try FileManager.default.createDirectory(atPath: bundle, withIntermediateDirectories: true)
            try """
            <?xml version="1.0"?><plist version="1.0"><dict>
            <key>CFBundleIdentifier</key><string>org.example.films</string>
            <key>CFBundleExecutable</key><string>run</string>
            <key>UTExportedTypeDeclarations</key><array><dict>
            <key>UTTypeIdentifier</key><string>org.example.film</string>
            <key>UTTypeConformsTo</key><string>public.movie</string>
            <key>UTTypeTagSpecification</key><dict><key>public.filename-extension</key><string>film</string></dict>
            </dict></array></dict></plist>
            """.write(toFile: bundle + "/Info.plist", atomically: false, encoding: .utf8)
            try writeScript("#!/bin/sh\n", to: bundle + "/run")
            try await withDesk(kitchen) { desk in
                try await desk.enter()
                let facts = try await desk.curl(desk.base + "/facts").body
                let table = try JSONDecoder().decode(Facts.self, from: Data(facts.utf8)).families
                let expected = [
                    "org.webmproject.webm": "movie", "org.example.film": "movie", "org.matroska.mka": "sound",
                    "org.webmproject.webp": "image", "public.iso-image": "archive", "public.zip-archive": "archive",
                    "net.daringfireball.markdown": "text", "com.adobe.pdf": "pdf", "public.folder": "folder",
                    "org.openxmlformats.wordprocessingml.document": "document", "org.waft.appimage": "program",
                    "org.debian.deb-archive": "program", "public.url": "link",
                ]
                for (type, family) in expected {
                    #expect(table.filter { $0.value.contains(type) }.map(\.key) == [family], "\(type)")
                }
            }
        }
    }

    @Test("each document of the interface is as its schema says")
    func schema() async throws {
        try await withKitchen { kitchen, study, _ in
            try await withDesk(kitchen) { desk in
                try await desk.enter()
                var documents = [
                    ("facts", try await desk.curl(desk.base + "/facts").body),
                    ("code", try await desk.post("/qr", #"{"text":"x"}"#).body),
                    ("message", try await desk.post("/contacts/block", "{}").body),
                    ("read", String(try await desk.call("codes/read", #"{"text":"7 s"}"#).prefix { $0 != "\n" })),
                    ("ticket", try await desk.post("/sendings", #"{"to":"a","items":[{"name":"a"}]}"#).body),
                ]
                let lines = try await desk.call("pair", #"{"peer":"nowhere"}"#)
                let split = lines.split(separator: "\n").map(String.init)
                documents += [("begun", split.first ?? ""), ("end", split.last ?? "")]
                let schema = Programs.root + "/Sources/Faces/Desk/Desk.docc/interface.schema.json"
                let check = """
                    import json, sys, jsonschema
                    schema = json.load(open(sys.argv[1]))
                    for name, text in zip(sys.argv[2::2], sys.argv[3::2]):
                        jsonschema.validate(json.loads(text), {**schema, "$ref": "#/$defs/" + name})
                    """
                let held = try await kitchen.run(
                    "/usr/bin/python3", ["-c", check, schema] + documents.flatMap { [$0.0, $0.1] })
                #expect(held.exit == 0, "\(held.errors)")
            }
        }
    }

    @Test("one stream of a window has the lines of many calls that last, and they end one by one or with it")
    func window() async throws {
        try await withKitchen { kitchen, _, _ in
            try await withDesk(kitchen) { desk in
                try await desk.enter()
                /// Connections to the control socket of the receiver.
                @Sendable func watching() throws -> Int {
                    try FileManager.default.contentsOfDirectory(atPath: "/proc/\(desk.process)/fd").count { name in
                        let target = try? FileManager.default.destinationOfSymbolicLink(
                            atPath: "/proc/\(desk.process)/fd/" + name)
                        return target?.hasPrefix("socket:") == true
                    }
                }
                let before = try watching()
                try await desk.following("/window") { lines in
                    let window = try await lines.first("a window") { text in
                        text.firstMatch(of: /"window":"([0-9a-z]{26})"/).map { String($0.1) }
                    }
                    for number in 1...12 {
                        let begun = try await desk.post("/receiver?window=\(window)&call=w\(number)", "{}")
                        #expect(begun.status == "202", "\(begun)")
                    }
                    let again = try await desk.post("/receiver?window=\(window)&call=w1", "{}")
                    #expect(again.status == "429", "\(again)")
                    try await eventually { try watching() >= before + 12 }
                    let contacts = try await desk.post("/contacts/me?window=\(window)&call=s", "{}")
                    #expect(contacts.status == "202")
                    try await lines.says(#"{"call":"s","line":{"#)
                    let stopped = try await desk.curl("-X", "DELETE", desk.base + "/windows/\(window)/calls/w3")
                    #expect(stopped.status == "204")
                    _ = try await lines.first("the end of the third") { text in
                        text.split(separator: "\n").first { $0.hasPrefix(#"{"call":"w3""#) && $0.contains(#""exit":"#) }
                            .map(String.init)
                    }
                }
                // The calls are gone with the window.
                try await eventually { try watching() <= before }
                let late = try await desk.post("/receiver?window=00000000000000000000000000&call=a", "{}")
                #expect(late.status == "404", "\(late)")
            }
        }
    }
}
