import Foundation
import Testing

/// Sending to a stand-in for LocalSend's app that is as strict as the app is.
@Suite(
    "Sending to LocalSend's app", .serialized, .timeLimit(.minutes(2)),
    .enabled(if: Lab.isPossible, "NOT RUN: network namespaces need root; run Scripts/test as root"))
struct LocalSendAppSendingTests {
    private static let studyAddress = "192.168.77.2"

    /// Makes files and a folder with an odd name in it.
    private func write(_ folder: String) throws -> [String] {
        let inside = folder + "/trip/d\u{E9}j\u{E0} vu"
        try FileManager.default.createDirectory(atPath: inside, withIntermediateDirectories: true)
        let large = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 3) })
        for (name, data) in [("a.txt", Data("hello".utf8)), ("empty", Data()), ("large.bin", large)] {
            try data.write(to: URL(fileURLWithPath: folder + "/" + name))
        }
        try "deep".write(toFile: inside + "/b.txt", atomically: true, encoding: .utf8)
        return ["a.txt", "empty", "large.bin", "trip/d\u{E9}j\u{E0} vu/b.txt"]
    }

    private func run(
        _ version: String, _ rules: String = "{}",
        _ body:
            @Sendable @escaping (Lab, AppStandIn, _ send: @Sendable ([String]) async throws -> ProgramResult)
            async throws -> Void
    ) async throws {
        try await Lab.with(avahi: "none") { lab in
            let (kitchen, study) = (lab.host("kitchen"), lab.host("study"))
            try await study.withApp(version, at: Self.studyAddress, rules) { app in
                try await body(lab, app) { words in
                    // This side is silent while only contacts may see it: the app is found when it announces itself.
                    try await app.order(#"{"do":"announce"}"#)
                    return try await kitchen.run(
                        arguments: ["send", "--to", "phone", "--timeout", "8"] + words, in: lab.folder)
                }
            }
        }
    }

    @Test("files, a folder and a text reach the app, in sessions that end", arguments: ["1.18", "1.17"])
    func sending(_ version: String) async throws {
        try await run(version) { lab, app, send in
            let names = try write(lab.folder)
            let sent = try await send(["a.txt", "empty", "large.bin", "trip"])
            #expect(sent.exit == 0, "\(sent.errors)")
            for name in names {
                let same = FileManager.default.contentsEqual(
                    atPath: lab.folder + "/" + name, andPath: app.received(name))
                #expect(same, "\(name)")
            }
            let offer = try await app.event("offer")
            #expect(offer.certificate == (version == "1.18"))
            try await app.event("ended")
            // 1.17 is busy until its user presses Done.
            try await app.order(#"{"do":"done"}"#)
            let text = try await send(["--text", "back at six"])
            #expect(text.exit == 0, "\(text.errors)")
            let shown = try await app.event("text")
            #expect(shown.text == "back at six")
            #expect(await app.events("unreadable").isEmpty)
            #expect(await app.events("failed").isEmpty)
        }
    }

    @Test("a PIN and a refusal of the app: exit code 12, and what to do")
    func refused() async throws {
        try await run("1.18", #"{"pin":"4711"}"#) { lab, app, send in
            _ = try write(lab.folder)
            let without = try await send(["a.txt"])
            #expect(without.exit == 12 && without.errors.contains("--pin"), "\(without.exit) \(without.errors)")
            let wrong = try await send(["a.txt", "--pin", "1"])
            #expect(wrong.exit == 12, "\(wrong.exit) \(wrong.errors)")
            let right = try await send(["a.txt", "--pin", "4711"])
            #expect(right.exit == 0, "\(right.errors)")
            try await app.event("offer")
            #expect(await app.events("offer").count == 1)
        }
        try await run("1.18", #"{"answer":"decline"}"#) { lab, _, send in
            _ = try write(lab.folder)
            let declined = try await send(["a.txt"])
            #expect(declined.exit == 12, "\(declined.exit) \(declined.errors)")
        }
    }

    @Test("a device without encryption is found, and gets something with --plain only")
    func plain() async throws {
        try await run("1.17", #"{"plain":true}"#) { lab, app, send in
            _ = try write(lab.folder)
            let refused = try await send(["a.txt"])
            #expect(refused.exit == 11 && refused.errors.contains("--plain"), "\(refused.exit) \(refused.errors)")
            #expect(await app.events("offer").isEmpty)
            let sent = try await send(["a.txt", "--plain"])
            #expect(sent.exit == 0 && sent.errors.contains("without encryption"), "\(sent.exit) \(sent.errors)")
            #expect(FileManager.default.contents(atPath: app.received("a.txt")) == Data("hello".utf8))
        }
    }

    @Test("an app whose user cancels in the middle: exit code 12", arguments: ["1.18", "1.17"])
    func cancelled(_ version: String) async throws {
        try await run(version, #"{"cancels":true}"#) { lab, app, send in
            let large = lab.folder + "/large.bin"
            #expect(FileManager.default.createFile(atPath: large, contents: nil))
            try FileHandle(forWritingTo: URL(fileURLWithPath: large)).truncate(atOffset: 256 << 20)
            let sent = try await send(["large.bin"])
            #expect(sent.exit == 12 && sent.errors.contains("the other side cancelled"), "\(sent.exit) \(sent.errors)")
            let answer = try await app.event("cancel")
            #expect(answer.status == 200)
        }
    }

    @Test("an app that is open and idle is found after a scan, and beside a receiver that everyone sees")
    func idle() async throws {
        try await Lab.with(avahi: "none") { lab in
            let (kitchen, study) = (lab.host("kitchen"), lab.host("study"))
            try await study.withApp("1.18", at: Self.studyAddress, #"{"quiet":true}"#) { app in
                try await app.event("listening")
                _ = try write(lab.folder)
                let unseen = ["send", "a.txt", "--to", "phone", "--timeout", "1"]
                #expect(try await kitchen.run(arguments: unseen, in: lab.folder).exit == 10)
                let words = ["send", "a.txt", "--to", "phone", "--timeout", "8"]
                try await kitchen.withReceiver(port: nil) { _ in
                    let beside = try await kitchen.run(arguments: words, in: lab.folder)
                    #expect(beside.exit == 0, "\(beside.exit) \(beside.errors)")
                }
                #expect(try await kitchen.run(arguments: unseen, in: lab.folder).exit == 10)
                let scan = try await kitchen.run(arguments: ["peers", "--scan"], in: lab.folder)
                #expect(scan.output.contains("phone"), "\(scan.output)")
                let after = try await kitchen.run(arguments: words, in: lab.folder)
                #expect(after.exit == 0, "\(after.exit) \(after.errors)")
            }
        }
    }

    @Test("an app with another port is reached by its address, its remembered address, and by its name after a scan")
    func otherPort() async throws {
        try await Lab.with(avahi: "none") { lab in
            let (kitchen, study) = (lab.host("kitchen"), lab.host("study"))
            try await study.withApp("1.18", at: Self.studyAddress, #"{"quiet":true,"silent":true,"port":53400}"#) {
                app in
                try await app.event("listening")
                _ = try write(lab.folder)
                func waft(_ words: String...) async throws -> ProgramResult {
                    try await kitchen.run(arguments: words, in: lab.folder)
                }
                let place = "\(Self.studyAddress):53400"
                #expect(try await waft("send", "a.txt", "--to", place).exit == 0)
                #expect(try await waft("peers", "add", "mine", place).exit == 0)
                #expect(try await waft("send", "a.txt", "--to", "mine").exit == 0)
                #expect(try await waft("peers", "remove", "mine").exit == 0)
                #expect(try await waft("config", "set", "dialects.localsend.port", "53400").exit == 0)
                let scan = try await waft("peers", "--scan")
                #expect(scan.output.contains("phone"), "\(scan.output)")
                // The place is known, also to a sending that looks for phones at the usual port.
                #expect(try await waft("config", "unset", "dialects.localsend.port").exit == 0)
                let after = try await waft("send", "a.txt", "--to", "phone", "--timeout", "8")
                #expect(after.exit == 0, "\(after.exit) \(after.errors)")
            }
        }
    }

    @Test("a machine where only LocalSend answers: exit code 11, and the address that reaches it")
    func onlyLocalSend() async throws {
        try await Lab.with(avahi: "none") { lab in
            let (kitchen, study) = (lab.host("kitchen"), lab.host("study"))
            try await study.withApp("1.18", at: Self.studyAddress, #"{"quiet":true}"#) { app in
                try await app.event("listening")
                _ = try write(lab.folder)
                let sent = try await kitchen.run(
                    arguments: ["send", "a.txt", "--to", Self.studyAddress], in: lab.folder)
                #expect(sent.exit == 11, "\(sent.exit) \(sent.errors)")
                #expect(sent.errors.contains("LocalSend is spoken there: --to \(Self.studyAddress):53317"))
            }
        }
    }

    @Test("an app that dies in the middle: exit code 11")
    func dead() async throws {
        try await run("1.18", #"{"dies":true}"#) { lab, _, send in
            _ = try write(lab.folder)
            let sent = try await send(["large.bin"])
            #expect(sent.exit == 11, "\(sent.exit) \(sent.errors)")
        }
    }
}
