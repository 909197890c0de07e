import Foundation
import Glibc
import Testing

/// `waft inbox open-in` and `waft inbox open`, with the real programs.
@Suite("Opening an item of the Inbox in a program", .serialized, .timeLimit(.minutes(2)))
struct InboxOpenInTests {
    /// A receiver's place with the items `a.txt` and `run.sh`, an application and two handlers for texts.
    private func withShelf(
        _ body: @Sendable @escaping (ApplicationShelf, _ inbox: String) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let shelf = try ApplicationShelf(folder, display: ":99")
            try "hello\n".write(toFile: folder + "/a.txt", atomically: false, encoding: .utf8)
            try writeScript("#!/bin/sh\n", to: folder + "/run.sh")
            let study = Host.loopback(folder + "/study")
            let inbox = try await shelf.host.withReceiver { running in
                let words = ["a.txt", "run.sh", "--annotation", "page=1", "--note", "hi", "--to", running.address]
                let sent = try await study.run(arguments: ["send"] + words, in: folder)
                #expect(sent.exit == 0, "\(sent)")
                return running.inbox
            }.result
            try await shelf.add("first", name: "First", shelf.noting("first"), types: "text/plain;")
            try await shelf.handler("Print it", "cat > '\(folder)/out/call'")
            try await shelf.handler("Nobody", "exit 1")
            try await body(shelf, inbox)
        }
    }

    private func state(_ shelf: ApplicationShelf) async throws -> JournalLine {
        let shown = try await shelf.waft("inbox", "show", "1", "--json")
        return try JSONDecoder().decode(JournalLine.self, from: Data(shown.output.utf8))
    }

    private struct JournalLine: Decodable {
        struct Attempt: Decodable {
            var handler: String
            var isAsked: Bool?
            var handlerAnswer: String?
        }

        var delivery: String
        var icon: String
        var genericIcon: String
        var attempts: [Attempt]?
    }

    private struct Call: Decodable {
        var annotation: [String: String]
        var sender: [String: String]?
        var attempt: Int
    }

    private func call(_ shelf: ApplicationShelf) throws -> Call {
        try JSONDecoder().decode(Call.self, from: Data((shelf.noted("call") ?? "").utf8))
    }

    @Test("the handlers come first in the list, then the applications")
    func list() async throws {
        try await withShelf { shelf, _ in
            let list = try await shelf.waft("inbox", "open-in", "a.txt")
            #expect(list.exit == 64, "\(list)")
            let lines = list.output.split(separator: "\n")
            #expect(lines.first == "a.txt  public.plain-text")
            #expect(lines.dropFirst().first == "  1  Print it      handler, opens public.text", "\(list)")
            #expect(lines.last == "  3  First         application, the default", "\(list)")
            #expect(try await shelf.waft("inbox", "open-in", "9").exit == 66)
        }
    }

    @Test("a handler is called as the user asked, without a receiver and by a running one, and the journal has it")
    func handler() async throws {
        try await withShelf { shelf, _ in
            let alone = try await shelf.waft("inbox", "open-in", "1", "print IT", "--annotation", "copies=2")
            #expect(alone.exit == 0 && alone.output == "1  a.txt: opened by Print it\n", "\(alone)")
            let first = try call(shelf)
            #expect(first.annotation == ["copies": "2"] && first.attempt == 1)
            #expect(first.sender == ["page": "1", "note": "hi"])
            try FileManager.default.removeItem(atPath: shelf.folder + "/out/call")
            try await shelf.host.withReceiver { _ in
                let words = ["inbox", "open-in", "1", "org.waft.local.print-it", "--annotation", "copies=3", "--json"]
                let asked = try await shelf.host.run(arguments: words)
                #expect(asked.exit == 0 && asked.events.map(\.event) == ["opened"], "\(asked)")
                #expect(asked.events.first?.handlerAnswer == "yes")
            }
            let second = try call(shelf)
            #expect(second.annotation == ["copies": "3"] && second.attempt == 2)
            let line = try await state(shelf)
            #expect(line.delivery == "yes" && line.attempts?.map(\.isAsked) == [true, true], "\(line)")
            #expect(line.icon == "text-plain" && line.genericIcon == "text-x-generic")
            let shown = try await shelf.waft("inbox", "show", "1")
            #expect(
                shown.output.contains("asked for, ")
                    && shown.output.contains("  icon       text-plain, text-x-generic"), "\(shown)")
        }
    }

    @Test("a receiver can start while a handler works that was called without one, and the journal has its answer")
    func receiverMeanwhile() async throws {
        try await withShelf { shelf, _ in
            let out = shelf.folder + "/out"
            #expect(mkfifo(out + "/go", 0o600) == 0)
            try await shelf.handler("Slow", ": > '\(out)/began'; cat '\(out)/go'")
            async let opened = shelf.waft("inbox", "open-in", "a.txt", "Slow")
            try await eventually { FileManager.default.fileExists(atPath: out + "/began") }
            let id = try await shelf.host.withReceiver { running in running.id }.result
            #expect(!id.isEmpty)
            try "go\n".write(toFile: out + "/go", atomically: false, encoding: .utf8)
            let end = try await opened
            #expect(end.exit == 0 && end.errors.isEmpty, "\(end)")
            let last = try await state(shelf).attempts?.last
            #expect(last?.handlerAnswer == "yes" && last?.isAsked == true)
        }
    }

    @Test("a handler that says no is 16, and the delivery stays as it was")
    func no() async throws {
        try await withShelf { shelf, _ in
            let before = try await state(shelf).delivery
            let alone = try await shelf.waft("inbox", "open-in", "1", "Nobody")
            #expect(alone.exit == 16 && alone.errors.contains("Nobody said no"), "\(alone)")
            try await shelf.host.withReceiver { _ in
                let asked = try await shelf.waft("inbox", "open-in", "1", "Nobody")
                #expect(asked.exit == 16, "\(asked)")
            }
            let line = try await state(shelf)
            #expect(line.delivery == before && line.attempts?.map(\.handlerAnswer) == ["no", "no"], "\(line)")
        }
    }

    @Test("without an annotation a handler gets the sender's, as in every delivery")
    func annotation() async throws {
        try await withShelf { shelf, _ in
            #expect(try await shelf.waft("inbox", "open-in", "1", "Print it").exit == 0)
            let call = try call(shelf)
            #expect(call.annotation == ["page": "1", "note": "hi"] && call.sender == nil)
        }
    }

    @Test("an application gets the read-only file in the Inbox, and with --copy one that was moved out before")
    func application() async throws {
        try await withShelf { shelf, inbox in
            #expect(try await shelf.waft("inbox", "open-in", "1", "first").exit == 0)
            try await eventually { shelf.noted("first") == inbox + "/a.txt|" }
            #expect(try await shelf.waft("inbox", "open-in", "1", "Print it", "--copy", "out").exit == 64)
            let copied = try await shelf.waft("inbox", "open-in", "1", "first", "--copy", "out")
            #expect(copied.exit == 0 && copied.output.contains("handed to First"), "\(copied)")
            try await eventually { shelf.noted("first") == shelf.folder + "/out/a.txt|" }
            #expect(try await shelf.waft("inbox", "open-in", "1", "first").exit == 66)
            #expect(access(shelf.folder + "/out/a.txt", W_OK) == 0)
        }
    }

    @Test("what the desktop would run is opened by neither verb without --anyway, nor without a display")
    func dangerous() async throws {
        try await withShelf { shelf, inbox in
            var shelf = shelf
            let open = shelf.folder + "/out/opened"
            try writeScript("#!/bin/sh\necho \"$1\" > '\(open)'\n", to: shelf.folder + "/bin/xdg-open")
            shelf.host.environment["PATH"] = shelf.folder + "/bin:\(BareSystem.programs)"
            for verb in ["open", "open-in"] {
                let refused = try await shelf.waft("inbox", verb, "run.sh")
                #expect(refused.exit == 13 && refused.errors.contains("--anyway"), "\(refused)")
            }
            #expect(try await shelf.waft("inbox", "options", "run.sh", "--check", "open").exit == 13)
            #expect(shelf.noted("opened") == nil)
            #expect(try await shelf.waft("inbox", "open", "run.sh", "--anyway").exit == 0)
            #expect(shelf.noted("opened") == "file://\(inbox)/run.sh\n")
            try FileManager.default.removeItem(atPath: open)
            shelf.host.environment["DISPLAY"] = ""
            let blind = try await shelf.waft("inbox", "open", "a.txt")
            #expect(blind.exit == 13 && blind.errors.contains("there is no desktop here"), "\(blind)")
            #expect(shelf.noted("opened") == nil)
        }
    }
}

extension ApplicationShelf {
    /// Adds a handler for texts: a script of `/bin/sh` that may write into `out`.
    fileprivate func handler(_ name: String, _ script: String) async throws {
        let program = folder + "/bin/" + name.replacing(" ", with: "-") + ".sh"
        try writeScript("#!/bin/sh\n\(script)\n", to: program)
        let added = try await waft(
            "handlers", "add", "--name", name, "--type", "public.text", "--run", program, "--writable", folder + "/out")
        #expect(added.exit == 0, "\(added)")
    }
}
