import Foundation
import Subprocess
import TestSupport
import Testing

/// The transcripts in the README and in the articles, run by the real programs on loopback: the real output must equal the printed one.
@Suite("Transcripts in the documents", .serialized, .timeLimit(.minutes(3)))
struct TranscriptTests {
    /// The first commands of the transcripts, or the beginnings of dialogues.
    private enum Title {
        static let receive = "waft receive"
        static let send = "waft send report.pdf --to kitchen"
        static let question = "1: stranger \"study\""
        static let local = "WAFT_HOME=/tmp/kitchen waft receive --accept everyone --name kitchen --port 4001"
        static let queue = "waft send report.pdf --to kitchen --queue"
        static let offers = "waft offers"
        static let verify = "waft inbox verify"
        static let handlers = "printf "
        static let settings = "waft handlers settings Photos"
        static let eligibility = "waft send photo.jpg report.pdf --to kitchen"
        static let digits = "waft pair --accept"
        static let code = "waft pair --code"
        static let spoken = "waft send report.pdf --code"
        static let config = "waft config set accept contacts"
        static let openIn = "waft inbox open-in report.pdf"
        static let preview = "waft offers preview 1.1 --out preview.png"
        static let all = [
            config, receive, send, question, local, queue, offers, verify, handlers, settings, eligibility, digits,
            code, spoken, openIn, preview,
        ]
    }

    @Test("each transcript is run by a test of this suite")
    func complete() throws {
        let sessions = try PrintedSession.all()
        for title in Title.all { #expect(throws: Never.self) { try PrintedSession.named(title) } }
        #expect(sessions.count == Title.all.count, "\(sessions.map { ($0.place, $0.title) })")
    }

    @Test("the first transfer: the receiver, its question, its answer, and the sender")
    func firstTransfer() async throws {
        let receive = try PrintedSession.named(Title.receive)
        let question = try PrintedSession.named(Title.question)
        let send = try PrintedSession.named(Title.send)
        try await withMachines { kitchen, study, folder in
            try write("%PDF-1.4\n", 1_300_000, to: study.home + "/report.pdf")
            let end = try await kitchen.atTerminal(["receive", "--port", "0"]) { terminal in
                try await terminal.transcript.says("--to kitchen")
                let port = try await terminal.transcript.first("a port") { $0.firstMatch(of: /port (\d+)/)?.1 }
                async let sending = study.shell(send.steps[0].command, to: "127.0.0.1:\(port)")
                try await terminal.transcript.says("? [y/n] ")
                try await terminal.type("y\n")
                let sent = try await sending
                expect(sent, send.steps[0], on: study)
                try await terminal.transcript.says("report.pdf  1.3 MB from")
                try await terminal.type("\u{3}")
            }
            let printed = Comparable.text(end.text.replacing("^C", with: ""), home: kitchen.home, isDialogue: true)
            let expected = receive.steps[0].output + question.lead
            #expect(printed == Comparable.text(expected.joined(separator: "\n"), isDialogue: true))
        }
    }

    @Test("a changed setting")
    func config() async throws {
        let session = try PrintedSession.named(Title.config)
        try await withMachines { kitchen, _, _ in
            for step in session.steps { expect(try await kitchen.shell(step.command), step, on: kitchen) }
        }
    }

    @Test("two on one machine")
    func local() async throws {
        let session = try PrintedSession.named(Title.local)
        try await withMachines { kitchen, _, folder in
            // The lines are typed into one shell, whose receiver continues to run.
            let port = "\(try freePort())"
            let lines = session.steps.map(\.command) + ["kill $!"]
            let script = lines.joined(separator: "\n").replacing("/tmp/", with: folder + "/").replacing(
                "4001", with: port)
            let outcome = try await kitchen.run("/bin/sh", ["-c", "{ \(script)\n} 2>&1"], in: folder)
            let expected = session.steps.flatMap(\.output).joined(separator: "\n")
            #expect(Comparable.text(outcome.output) == Comparable.text(expected))
        }
    }

    @Test("a job of the outbox")
    func outbox() async throws {
        let session = try PrintedSession.named(Title.queue)
        try await withMachines { _, study, _ in
            try write("%PDF-1.4\n", 48_200, to: study.home + "/report.pdf")
            try await study.withReceiver(Programs.waftd, []) { _ in
                for step in session.steps { expect(try await study.shell(step.command), step, on: study) }
            }
        }
    }

    @Test("an offer that is answered from another shell")
    func offers() async throws {
        let session = try PrintedSession.named(Title.offers)
        try await withMachines { kitchen, study, _ in
            try write("%PDF-1.4\n", 1_300_000, to: study.home + "/report.pdf")
            try write("plan\n", 98_200, to: study.home + "/plan.txt")
            try await kitchen.becomeVisible()
            try await kitchen.withReceiver(Programs.waftd, []) { running in
                async let sending = study.shell("waft send report.pdf plan.txt --to kitchen", to: running.address)
                _ = try await running.log.first("offer")
                for step in session.steps { expect(try await kitchen.shell(step.command), step, on: kitchen) }
                #expect(try await sending.exit == 12)
                #expect(try running.names() == ["report.pdf"])
            }
        }
    }

    @Test("the preview of an offered item")
    func preview() async throws {
        let session = try PrintedSession.named(Title.preview)
        try await withMachines { kitchen, study, _ in
            try write("x", 2, to: study.home + "/photo.jpg")
            let picture = PreviewSample.png(128, 85, padding: 20_000)
            try Data(picture).write(to: URL(fileURLWithPath: study.home + "/small.png"))
            try await kitchen.allow(study, "study")
            try await study.allow(kitchen, "kitchen")
            try await kitchen.withReceiver(Programs.waftd, []) { running in
                async let sending = study.shell(
                    "waft send photo.jpg --thumbnail small.png --to kitchen", to: running.address)
                _ = try await running.log.first("offer")
                expect(try await kitchen.shell(session.steps[0].command), session.steps[0], on: kitchen)
                #expect(try await kitchen.shell("waft decline 1").exit == 0)
                _ = try await sending
            }
        }
    }

    @Test("the Inbox, compared with the received items")
    func verify() async throws {
        let session = try PrintedSession.named(Title.verify)
        try await withMachines { kitchen, study, _ in
            let names = (1...214).map { [3: "photo.jpg", 7: "notes"][$0] ?? "\($0).txt" }
            for name in names where name != "notes" {
                try name.write(toFile: study.home + "/" + name, atomically: false, encoding: .utf8)
            }
            try write("\u{7F}", 9, to: study.home + "/photo.jpg")
            try FileManager.default.createDirectory(atPath: study.home + "/notes", withIntermediateDirectories: true)
            try await kitchen.withReceiver { running in
                let sent = try await study.shell(
                    "waft send \(names.joined(separator: " ")) --to kitchen", to: running.address)
                #expect(sent.exit == 0, "\(sent.output)")
                try FileManager.default.removeItem(atPath: running.inbox + "/notes")
                let photo = running.inbox + "/photo.jpg"
                try #require(chmod(photo, 0o644) == 0)
                let file = try #require(FileHandle(forWritingAtPath: photo))
                try file.write(contentsOf: Data("x".utf8))
                try file.close()
                try #require(chmod(photo, 0o444) == 0)
            }
            expect(try await kitchen.shell(session.steps[0].command), session.steps[0], on: kitchen, exit: 17)
        }
    }

    @Test("an added handler gets items of its types; a sender learns that no handler opens its item")
    func handlers() async throws {
        let session = try PrintedSession.named(Title.handlers)
        let refused = try PrintedSession.named(Title.eligibility)
        try await withMachines { kitchen, study, _ in
            for host in [kitchen, study] {
                try Data([0xFF, 0xD8, 0xFF, 0xE0, 0, 16] + Array("JFIF\0".utf8) + Array(repeating: 1, count: 90))
                    .write(to: URL(fileURLWithPath: host.home + "/photo.jpg"))
            }
            try write("%PDF-1.4\n", 1_000, to: study.home + "/report.pdf")
            try FileManager.default.createDirectory(
                atPath: kitchen.home + "/Pictures", withIntermediateDirectories: true)
            for step in session.steps { expect(try await kitchen.shell(step.command), step, on: kitchen) }
            var strict = kitchen
            strict.environment["WAFT_ELIGIBILITY"] = "handlers"
            try await strict.withReceiver { running in
                let step = refused.steps[0]
                expect(try await study.shell(step.command, to: running.address), step, on: study, exit: 13)
                let photo = "waft send photo.jpg --wait opened --to kitchen"
                let sent = try await study.shell(photo, to: running.address)
                #expect(sent.exit == 0, "\(sent.output)")
            }
            #expect(FileManager.default.fileExists(atPath: kitchen.home + "/Pictures/photo.jpg"))
        }
    }

    @Test("an item that is opened in a handler of several programs")
    func openIn() async throws {
        let session = try PrintedSession.named(Title.openIn)
        try await withMachines { kitchen, study, folder in
            try write("%PDF-1.4\n", 1_000, to: study.home + "/report.pdf")
            try await kitchen.withReceiver { running in
                let sent = try await study.shell("waft send report.pdf --to kitchen", to: running.address)
                #expect(sent.exit == 0, "\(sent)")
            }
            let add = "waft handlers add --name 'Print it' --type com.adobe.pdf --run /bin/true"
            #expect(try await kitchen.shell(add).exit == 0)
            let applications = kitchen.home + "/.local/share/applications"
            try FileManager.default.createDirectory(atPath: applications, withIntermediateDirectories: true)
            let entry = "[Desktop Entry]\nType=Application\nName=Evince\nExec=/bin/true %f\nMimeType=application/pdf;\n"
            try entry.write(toFile: applications + "/evince.desktop", atomically: false, encoding: .utf8)
            let standard = "[Default Applications]\napplication/pdf=evince.desktop\n"
            try standard.write(toFile: applications + "/mimeapps.list", atomically: false, encoding: .utf8)
            _ = try await kitchen.run("/usr/bin/update-desktop-database", [applications])
            var desktop = kitchen
            desktop.environment.merge(["DISPLAY": ":99", "XDG_DATA_DIRS": folder + "/none"]) { $1 }
            for (step, exit) in zip(session.steps, [64, 0]) {
                expect(try await desktop.shell(step.command), step, on: desktop, exit: exit)
            }
        }
    }

    @Test("the settings of a handler are listed, set, and returned to the default")
    func settings() async throws {
        let session = try PrintedSession.named(Title.settings)
        try await withMachines { kitchen, _, _ in
            try HandlerSettingsTests.install(
                "#!/bin/sh\n", at: kitchen.home + "/.local/share/waft/handlers/Photos.handler")
            for (number, step) in session.steps.enumerated() {
                let isLast = number == session.steps.count - 1
                expect(try await kitchen.shell(step.command), step, on: kitchen, exit: isLast ? 64 : 0)
            }
        }
    }

    @Test("pairing by digits, at two terminals")
    func digits() async throws {
        let session = try PrintedSession.named(Title.digits)
        try await withMachines { kitchen, study, _ in
            try await kitchen.withReceiver(Programs.waftd, []) { running in
                let end = try await kitchen.atTerminal(["pair", "--accept"]) { here in
                    try await here.transcript.says("Waiting for a peer.")
                    try await study.atTerminal(["pair", running.address]) { there in
                        try await here.transcript.says("? [y/n] ")
                        try await here.type("y\n")
                        try await here.transcript.says("Waiting for the other side.")
                        try await there.transcript.says("? [y/n] ")
                        try await there.type("y\n")
                        try await there.transcript.says("paired with kitchen")
                    }
                    try await here.transcript.says("paired with study")
                }
                let printed = Comparable.text(end.text, home: kitchen.home, isDialogue: true)
                let expected = session.steps[0].output.joined(separator: "\n")
                #expect(printed == Comparable.text(expected, isDialogue: true))
            }
        }
    }

    @Test("pairing by a code")
    func code() async throws {
        let session = try PrintedSession.named(Title.code)
        try #require(session.steps.map(\.machine) == ["kitchen", "study"])
        try await withMachines { kitchen, study, _ in
            try await kitchen.withReceiver(Programs.waftd, []) { running in
                let here = try await kitchen.atTerminal(["pair", "--code"]) { here in
                    let code = try await here.transcript.first("a code") {
                        $0.firstMatch(of: /\d{3}-\d{3}-\d{3}/)?.output
                    }
                    let there = try await study.atTerminal(["pair", running.address, "--code"]) { there in
                        try await there.transcript.says("Code shown by the other machine: ")
                        try await there.type(code + "\n")
                        try await there.transcript.says("paired with kitchen")
                    }
                    let printed = Comparable.text(there.text, isDialogue: true)
                    let expected = session.steps[1].output.joined(separator: "\n")
                    #expect(printed == Comparable.text(expected, isDialogue: true))
                    try await here.transcript.says("paired with study")
                }
                let printed = Comparable.text(here.text)
                #expect(printed == Comparable.text(session.steps[0].output.joined(separator: "\n")))
            }
        }
    }

    @Test("a transfer by a spoken code")
    func spoken() async throws {
        let session = try PrintedSession.named(Title.spoken)
        try #require(session.steps.map(\.machine) == ["study", "kitchen"])
        try await withMachines { kitchen, study, _ in
            try write("%PDF-1.4\n", 1_300_000, to: study.home + "/report.pdf")
            // Loopback has no discovery: the address of a receiver stands for it.
            try await study.withReceiver(Programs.waftd, []) { running in
                let words = Array(session.steps[0].command.split(separator: " ").dropFirst().map(String.init))
                let here = try await study.atTerminal(words, in: study.home) { here in
                    let code = try await SpokenCodeTests.code(of: here)
                    let typed = session.steps[1].command.replacing("7-pumpkin-sausage", with: code)
                    expect(try await kitchen.shell("\(typed) --at \(running.address)"), session.steps[1], on: kitchen)
                }
                #expect(Comparable.text(here.text) == Comparable.text(session.steps[0].output.joined(separator: "\n")))
            }
        }
    }

    // MARK: The machines

    private func withMachines(
        _ body: @Sendable @escaping (_ kitchen: Host, _ study: Host, _ folder: String) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try await body(try machine("kitchen", in: folder), try machine("study", in: folder), folder)
        }
    }

    /// The machine of a user whose home is below `folder`; no variable of the environment leads elsewhere.
    private func machine(_ name: String, in folder: String) throws -> Host {
        var host = Host.loopback("\(folder)/homes/\(name)")
        try FileManager.default.createDirectory(atPath: host.home, withIntermediateDirectories: true)
        let variables =
            ["WAFT_HOME"] + ["CONFIG", "STATE", "DATA"].map { "XDG_\($0)_HOME" }
            + ["XDG_DOCUMENTS_DIR", "XDG_RUNTIME_DIR"]
        host.prefix = ["/usr/bin/env", "-C", host.home] + variables.flatMap { ["-u", $0] }
        host.environment.merge([
            "HOME": host.home, "WAFT_NAME": name, "TERM": "dumb", "LC_ALL": "C.UTF-8",
            "PATH": Programs.folder + ":\(BareSystem.programs)",
        ]) { $1 }
        return host
    }

    private func write(_ head: String, _ size: Int, to path: String) throws {
        let text = head + String(repeating: "x\n", count: size / 2)
        try Data(text.utf8.prefix(size)).write(to: URL(fileURLWithPath: path))
    }

    /// A step without a printed output must succeed, and do nothing else.
    private func expect(_ outcome: ProgramResult, _ step: PrintedSession.Step, on host: Host, exit: Int = 0) {
        #expect(outcome.exit == exit, "\(step.command): \(outcome.output)")
        guard !step.output.isEmpty else { return }
        let printed = Comparable.text(outcome.output, home: host.home)
        #expect(printed == Comparable.text(step.output.joined(separator: "\n")), "\(step.command)")
    }
}

extension Host {
    /// Runs a line of a shell in the home folder, with both outputs in one.
    ///
    /// - Parameter address: replaces `--to kitchen`, because loopback has no discovery.
    fileprivate func shell(_ command: String, to address: String? = nil) async throws -> ProgramResult {
        let line = address.map { command.replacing("--to kitchen", with: "--to \($0)") } ?? command
        return try await run("/bin/sh", ["-c", "{ \(line)\n} 2>&1"])
    }
}
