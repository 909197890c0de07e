import Foundation
import Testing

/// Files whose content contradicts their name.
@Suite("Content that lies", .serialized)
struct ContentTests {
    @Test("a program called photo.jpg stays in the Inbox, marked and not executable, and no hook is called for it")
    func liar() async throws {
        try await withTemporaryFolder { folder in
            let liar = folder + "/photo.jpg"
            try FileManager.default.copyItem(atPath: "/bin/true", toPath: liar)
            #expect(chmod(liar, 0o755) == 0)
            try Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + Array(repeating: 0, count: 64))
                .write(to: URL(fileURLWithPath: folder + "/honest.jpeg"))
            try "plain words\n".write(toFile: folder + "/note.txt", atomically: false, encoding: .utf8)
            var receiver = Host.loopback(folder + "/kitchen")
            let hook = try receiver.useHook(
                "#!/bin/sh\necho \"$WAFT_NAME $WAFT_TYPE\" >> record\n", in: folder)
            let sender = Host.loopback(folder + "/study")
            let host = receiver
            try await host.withReceiver { running in
                let words = ["send", "photo.jpg", "honest.jpeg", "note.txt", "--wait", "opened", "--json"]
                let outcome = try await sender.run(arguments: words + ["--to", running.address], in: folder)
                #expect(outcome.exit == 16, "no handler gets the liar: \(outcome.errors) \(outcome.output)")
                let found = outcome.events.filter { $0.stored != nil }.map { "\($0.stored ?? "") \($0.content ?? "-")" }
                #expect(found == ["photo.jpg lying", "honest.jpeg mislabelled", "note.txt -"])
                #expect(try mode(of: running.inbox + "/photo.jpg") == 0o444 & ~umaskOfTests)
                let record = try String(contentsOfFile: hook + "/record", encoding: .utf8)
                #expect(
                    record.split(separator: "\n").sorted() == ["honest.jpeg public.png", "note.txt public.plain-text"])
                let list = try await host.run(arguments: ["inbox", "list"])
                #expect(list.output.contains("lying: "), "\(list.output)")
            }
        }
    }

    @Test("a type that a handler declares is known to waft type, and to the lists, though the sender does not know it")
    func declared() async throws {
        try await withTemporaryFolder { folder in
            let (host, sender) = (Host.loopback(folder + "/kitchen"), Host.loopback(folder + "/study"))
            let bundle = host.home + "/handlers/Tasks.handler"
            try FileManager.default.createDirectory(atPath: bundle, withIntermediateDirectories: true)
            let type: [String: Any] = [
                "UTTypeIdentifier": "org.example.tasks", "UTTypeConformsTo": ["public.plain-text"],
                "UTTypeDescription": "Tasks", "UTTypeTagSpecification": ["public.filename-extension": ["tasks"]],
            ]
            let info: [String: Any] = [
                "CFBundleIdentifier": "org.example.tasks", "CFBundleExecutable": "run",
                "CFBundleDocumentTypes": [["LSItemContentTypes": ["org.example.tasks"]]],
                "UTExportedTypeDeclarations": [type],
            ]
            try PropertyListSerialization.data(fromPropertyList: info, format: .xml, options: 0)
                .write(to: URL(fileURLWithPath: bundle + "/Info.plist"))
            try writeScript("#!/bin/sh\n", to: bundle + "/run")
            try "- [ ] Buy milk\n".write(toFile: folder + "/a.tasks", atomically: false, encoding: .utf8)
            let here = try await host.run(arguments: ["type", "a.tasks"], in: folder)
            #expect(
                here.output.hasPrefix("a.tasks: org.example.tasks (Tasks)\n  conforms to public.plain-text"), "\(here)")
            #expect(try await sender.run(arguments: ["type", "a.tasks"], in: folder).output.contains("dyn."))
            try await host.withReceiver { running in
                let sent = try await sender.run(arguments: ["send", "a.tasks", "--to", running.address], in: folder)
                #expect(sent.exit == 0, "\(sent)")
            }
            for type in ["org.example.tasks", "public.text"] {
                let listed = try await host.run(arguments: ["inbox", "list", "--type", type])
                #expect(
                    listed.output.contains("a.tasks") && listed.output.hasSuffix("\n1 item, 15 bytes\n"), "\(listed)")
            }
            let shown = try await host.run(arguments: ["inbox", "show", "a.tasks"])
            #expect(shown.output.contains("\n  sent with  org.waft.send, as the sender says\n"), "\(shown)")
        }
    }

    @Test("waft type prints the type of a file by name and by content")
    func type() async throws {
        try await withTemporaryFolder { folder in
            try FileManager.default.copyItem(atPath: "/bin/true", toPath: folder + "/doc.pdf")
            let outcome = try await Host.loopback(folder + "/home").run(arguments: ["type", "doc.pdf"], in: folder)
            #expect(outcome.exit == 0)
            #expect(outcome.output.contains("com.adobe.pdf"))
            #expect(outcome.output.contains("but is ELF binary: not opened"), "\(outcome.output)")
            let missing = try await Host.loopback(folder + "/home").run(arguments: ["type", "none"], in: folder)
            #expect(missing.exit == 66)
        }
    }
}
