import ArgumentParser
import Foundation
import HandlerCatalog
import Lines
import TestSupport
import Testing
import UniformTypes

@testable import CommandLine

@Suite("waft handlers add, remove, enable, disable and default")
struct HandlersChangeTests {
    @Test("add prints which handler was installed, where, what it opens and the next step")
    func add() async throws {
        let shelf = HandlerShelf()
        try FileManager.default.createDirectory(atPath: shelf.folder / "Pictures", withIntermediateDirectories: true)
        let report = try await shelf.run(
            "add", "--name", "Photos", "--type", "public.image", "--run", "./import.sh", "--writable", "Pictures")
        #expect(
            report.results == [
                "installed Photos (org.waft.local.photos) in \(shelf.user)/Photos.handler",
                "  opens  public.image",
                "  runs   ./import.sh, in place",
                "  writes \(shelf.folder.path)/user/handler-data/org.waft.local.photos",
                "  writes \(shelf.folder.path)/Pictures",
            ])
        #expect(report.isChange, "a running receiver is told")
        #expect(report.notes == ["to see which handler gets a file: waft handlers test FILE"])
        let script = try String(contentsOfFile: shelf.user + "/Photos.handler/run", encoding: .utf8)
        #expect(script.contains("exec '\(shelf.program)' \"$@\""))
    }

    @Test("add prints the handler's additional permissions, and writes them into the bundle")
    func permissions() async throws {
        let shelf = HandlerShelf()
        shelf.folder.file("list", "x")
        let report = try await shelf.run(
            "add", "--name", "Print", "--type", "com.adobe.pdf", "--run", "import.sh", "--readable", "list",
            "--network", "--sockets", "--environment", "HTTPS_PROXY")
        #expect(
            report.results.suffix(5) == [
                "  reads  \(shelf.folder.path)/list",
                "  writes \(shelf.folder.path)/user/handler-data/org.waft.local.print",
                "  uses   the network",
                "  uses   Unix sockets, and by them your other programs",
                "  gets   HTTPS_PROXY of the receiver's environment",
            ])
        let document = try await shelf.run("show", "Print", "--json").documents[0]
        #expect(document["readable"] as? [String] == [shelf.program, shelf.folder / "list"])
        let permissions = try #require(document["permissions"] as? [String: Any])
        #expect(permissions["network"] as? Bool == true && permissions["sockets"] as? Bool == true)
        #expect(permissions["environment"] as? [String] == ["HTTPS_PROXY"])
        #expect(permissions["signals"] as? Bool == false)
        #expect(permissions["writes"] as? [String] == [shelf.folder / "user/handler-data/org.waft.local.print"])
    }

    @Test("the files that a handler has written are kept when it is removed, and deleted with --data")
    func data() async throws {
        for (flags, isKept) in [([], true), (["--data"], false), (["--data", "--json"], false)] {
            let shelf = HandlerShelf()
            try await shelf.add("Photos", "public.image")
            let data = shelf.folder / "user/handler-data/org.waft.local.photos"
            try FileManager.default.createDirectory(atPath: data + "/deep/er", withIntermediateDirectories: true)
            let report = try await shelf.run(["remove", "Photos"] + flags)
            #expect(FileManager.default.fileExists(atPath: data) == isKept)
            if flags.contains("--json") {
                #expect(report.documents[0]["isDataRemoved"] as? Bool == true)
            } else {
                #expect(
                    report.results.last == "  "
                        + (isKept ? "kept its data folder" : "removed its data folder") + " \(data)")
            }
        }
    }

    @Test("with --copy the program is copied, with schemes alone the hint names one, and --json is one document")
    func addVariants() async throws {
        let shelf = HandlerShelf()
        let copied = try await shelf.run("add", "--name", "A", "--scheme", "foo", "--run", "import.sh", "--copy")
        #expect(copied.results[2] == "  runs   a copy of import.sh")
        #expect(copied.notes == ["to see which handler gets a file: waft handlers test foo:example"])
        #expect(FileManager.default.contents(atPath: shelf.user + "/A.handler/import.sh") != nil)
        let document = try await shelf.run(
            "add", "--name", "B", "--type", "org.nobody.t", "--run", "import.sh", "--json")
        #expect(document.documents.count == 1)
        #expect((document.documents[0]["warnings"] as? [String])?.first?.contains("nothing declares") == true)
        #expect(document.notes.isEmpty)
        // The output without `--json` has the warning too.
        let warned = try await shelf.run("add", "--name", "C", "--type", "org.nobody.t", "--run", "import.sh")
        #expect(warned.text.contains("  warning: nothing declares the type org.nobody.t"))
    }

    @Test(
        "a folder in the Inbox, the Inbox, one around it, and a link to one cannot be writable: one line, exit code 64")
    func inbox() async throws {
        let shelf = HandlerShelf()
        let link = shelf.folder / "link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: shelf.folder / "home/Documents")
        try FileManager.default.createDirectory(atPath: shelf.inbox + "/x", withIntermediateDirectories: true)
        for path in [
            shelf.inbox, shelf.inbox + "/x", shelf.inbox + "/not/there", shelf.folder / "home", "home", "/", link,
            "home/../home/Documents/./Inbox/", link + "/Inbox",
        ] {
            let failure = await shelf.failure(
                "add", "--name", "A", "--type", "public.image", "--run", "import.sh", "--writable", path)
            #expect(failure.exit == 64, "\(path)")
            #expect(failure.message.contains("where no handler may write"), "\(path): \(failure.message)")
            #expect(failure.hint == nil)
        }
        #expect(shelf.installed.isEmpty)
        // A folder beside the Inbox is allowed, even if its name begins with the Inbox's name.
        try FileManager.default.createDirectory(atPath: shelf.inbox + "2", withIntermediateDirectories: true)
        _ = try await shelf.run(
            "add", "--name", "A", "--type", "public.image", "--run", "import.sh", "--writable", shelf.inbox + "2")
    }

    @Test("the Inbox need not be there yet")
    func noInbox() async throws {
        let shelf = HandlerShelf()
        try FileManager.default.removeItem(atPath: shelf.folder / "home/Documents")
        let failure = await shelf.failure(
            "add", "--name", "A", "--type", "public.image", "--run", "import.sh", "--writable", "home")
        #expect(failure.exit == 64)
    }

    /// The arguments besides a valid program, and the exit code.
    private static let refusals: [(words: [String], exit: Int32)] = [
        (["--name", "../x", "--type", "public.image"], 64),
        (["--name", "", "--type", "public.image"], 64),
        (["--name=-x", "--type", "public.image"], 64),
        (["--name", "-x", "--type", "public.image"], 64),
        (["--name", ".x", "--type", "public.image"], 64),
        (["--name", " ", "--type", "public.image"], 64),
        (["--name", "a\u{1B}[2Jb", "--type", "public.image"], 64),
        (["--name", "a/b", "--type", "public.image"], 64),
        (["--name", "inbox", "--type", "public.image"], 64),
        (["--name", "Hook", "--type", "public.image"], 64),
        (["--name", String(repeating: "x", count: 300), "--type", "public.image"], 64),
        (["--name", "x"], 64),
        (["--name", "x", "--type", "jpg"], 64),
        (["--name", "x", "--type", "image/png"], 64),
        (["--name", "x", "--type", "\u{1B}[2J"], 64),
        (["--name", "x", "--scheme", "https"], 64),
        (["--name", "x", "--scheme", "1a"], 64),
        (["--name", "x", "--scheme", "a\u{1B}b"], 64),
        (["--name", "x", "--type", "public.image", "--run", "not-there"], 66),
        (["--name", "x", "--type", "public.image", "--run", "text"], 64),
        (["--name", "x", "--type", "public.image", "--run", "."], 64),
        (["--name", "x", "--type", "public.image", "--run", "fifo"], 64),
        (["--name", "x", "--type", "public.image", "--run", "open"], 64),
        (["--name", "x", "--type", "public.image", "--writable", "not-there"], 64),
        (["--name", "x", "--type", "public.image", "--writable", "import.sh"], 64),
        (["--name", "x", "--type", "public.image", "--readable", "not-there"], 64),
        (["--name", "x", "--type", "public.image", "--readable", "config"], 64),
        (["--name", "x", "--type", "public.image", "--writable", "user/handlers"], 64),
        (["--name", "x", "--type", "public.image", "--readable", "/"], 64),
    ]

    @Test(
        "bad names, types, schemes and programs are refused with one line, and nothing is left behind",
        arguments: refusals)
    func refused(words: [String], exit: Int32) async {
        let shelf = HandlerShelf()
        shelf.folder.file("text", "no interpreter\n", mode: 0o755)
        shelf.folder.file("open", "#!/bin/sh\n").withCString { _ = chmod($0, 0o777) }
        mkfifo(shelf.folder / "fifo", 0o700)
        let run = words.contains("--run") ? [] : ["--run", "import.sh"]
        for more in [[], ["--json"]] {
            let failure: (exit: Int32, message: String)
            do {
                let report = try await shelf.run(["add"] + words + run + more)
                failure = (report.exit.rawValue, "")
            } catch let error as CommandError {
                failure = (error.exit.rawValue, error.message)
                #expect(!error.message.contains("\n"))
            } catch {
                failure = (HandlersCommand.exitCode(for: error).rawValue, "")
            }
            #expect(failure.exit == exit)
            #expect(!failure.message.contains("\u{1B}"))
        }
        #expect(!FileManager.default.fileExists(atPath: shelf.folder / "user"))
        #expect(!FileManager.default.fileExists(atPath: shelf.folder / "config"))
    }

    @Test("a name that is taken is refused, and the bundle of that name stays unchanged")
    func taken() async throws {
        let shelf = HandlerShelf()
        try await shelf.add("Photos", "public.image")
        let before = try await shelf.run("show", "photos").results
        let failure = await shelf.failure("add", "--name", "photos", "--type", "com.adobe.pdf", "--run", "import.sh")
        #expect(failure.exit == 64)
        #expect(failure.message.contains("there is a handler Photos already"))
        #expect(try await shelf.run("show", "photos").results == before)
        #expect(shelf.installed == ["Photos.handler"])
    }

    @Test("a place that cannot be written is exit code 1")
    func storage() async throws {
        let shelf = HandlerShelf()
        shelf.folder.file("user", "in the way")
        let failure = await shelf.failure("add", "--name", "x", "--type", "public.image", "--run", "import.sh")
        #expect(failure.exit == 1)
        #expect(failure.message.contains("could not be written"))
    }

    @Test("remove prints the removed handler and the types whose default it was, and also removes broken bundles")
    func remove() async throws {
        let shelf = HandlerShelf()
        try await shelf.add("Photos", "public.image")
        try shelf.write("Odd", nil)
        _ = try await shelf.run("default", "public.image", "Photos")
        #expect(
            try await shelf.run("remove", "photos").results == [
                "removed \(shelf.user)/Photos.handler", "  it was your default for public.image",
            ])
        #expect(
            try await shelf.run("remove", "Odd", "--json").documents[0]["path"] as? String == shelf.user
                + "/Odd.handler")
        #expect(shelf.installed.isEmpty)
    }

    @Test("a handler outside the user's folder is not removed: the message has its place and an alternative")
    func removeOthers() async throws {
        let shelf = HandlerShelf(hook: "on-arrival")
        try shelf.write("Printer", HandlerShelf.keys("org.example.printer"), in: shelf.machine)
        let failure = await shelf.failure("remove", "printer")
        #expect(failure.exit == 64)
        #expect(failure.message.contains(shelf.machine + "/Printer.handler is not in your own folder"))
        #expect(failure.hint == "waft handlers disable printer")
        #expect(await shelf.failure("remove", "inbox").message.contains("is built in"))
        #expect(await shelf.failure("remove", "hook").message.contains("hook: in the configuration"))
        for word in ["", "..", "../etc", "nobody", "/", "Printer.handler/.."] {
            #expect(await shelf.failure("remove", word).exit == 66)
        }
        #expect(FileManager.default.fileExists(atPath: shelf.machine + "/Printer.handler"))
    }

    @Test("disable and enable confirm the change, any number of times")
    func disable() async throws {
        let shelf = HandlerShelf()
        try await shelf.add("Photos", "public.image")
        for _ in 0..<2 {
            #expect(
                try await shelf.run("disable", "photos").results == ["Photos is disabled: it gets no items and no URLs"]
            )
        }
        #expect(try await shelf.run("show", "photos").text.contains("state         disabled"))
        for _ in 0..<2 { #expect(try await shelf.run("enable", "Photos").results == ["Photos is enabled"]) }
        #expect(try await shelf.run("enable", "Photos", "--json").documents[0]["enabled"] as? Bool == true)
        #expect(await shelf.failure("disable", "inbox").exit == 64)
        #expect(await shelf.failure("disable", "nobody").hint == "see: waft handlers")
    }

    @Test("defaults are set, listed, shown and forgotten, for types and for schemes")
    func defaults() async throws {
        let shelf = HandlerShelf()
        _ = try await shelf.run(
            "add", "--name", "Photos", "--type", "public.image", "--scheme", "photo", "--run", "import.sh")
        #expect(try await shelf.run("default").notes.first?.contains("you have no defaults") == true)
        #expect(
            try await shelf.run("default", "public.jpeg", "photos").results
                == ["Photos is asked first about public.jpeg from now on"])
        #expect(
            try await shelf.run("default", "PHOTO:", "photos").results == [
                "Photos is asked first about photo: from now on"
            ])
        #expect(
            try await shelf.run("default", "public.png", "inbox").results
                == ["public.png stays in the Inbox from now on, and no handler is asked"])
        #expect(
            try await shelf.run("default").results == [
                "public.jpeg  Photos (org.waft.local.photos)", "public.png  Inbox (org.waft.inbox)",
                "photo:  Photos (org.waft.local.photos)",
            ])
        #expect(try await shelf.run("default", "photo:").results == ["photo:  Photos (org.waft.local.photos)"])
        #expect(
            try await shelf.run("default", "photo", "photos").results == [
                "Photos is asked first about photo: from now on"
            ],
            "the scheme of a handler needs no colon where it is no type")
        #expect(try await shelf.run("list").results.contains("  default for public.jpeg, photo:"))
        #expect(
            try await shelf.run("show", "photos").results.contains { $0.hasSuffix("photo:") && !$0.contains("opens") })
        #expect(try await shelf.run("default", "public.tiff").results == ["public.tiff  no default"])
        _ = try await shelf.run("disable", "photos")
        let states = try await shelf.run("default", "--json").documents.map { $0["state"] as? String }
        #expect(states == ["disabled", "enabled", "disabled"])
        #expect(
            try await shelf.run("default", "photo:").results == [
                "photo:  Photos (org.waft.local.photos), which is disabled"
            ])
        #expect(
            try await shelf.run("default", "photo:", "--remove").results
                == ["org.waft.local.photos is no longer your default for photo:"])
        #expect(try await shelf.run("default", "photo:", "--remove").results == ["you had no default for photo:"])
        #expect(try await shelf.run("default", "--json").documents.count == 2)
    }

    @Test("a default that a removed handler left behind can be seen and forgotten")
    func leftOver() async throws {
        let shelf = HandlerShelf()
        try FileManager.default.createDirectory(atPath: shelf.folder / "config", withIntermediateDirectories: true)
        try Data(#"{"defaults": {"odd": "org.gone.x"}}"#.utf8).write(to: URL(fileURLWithPath: shelf.choices))
        #expect(try await shelf.run("default").results == ["odd  org.gone.x, which is not installed"])
        #expect(try await shelf.run("default", "odd", "--remove").text.contains("is no longer your default for odd"))
        #expect(try await shelf.run("default").results.isEmpty)
    }

    @Test(
        "a handler that cannot be a default is refused with one line",
        arguments: [
            (["pdf", "Photos"], "pdf is a file name extension; its type is com.adobe.pdf"),
            (["com.adobe.pdf", "Photos"], "Photos does not open com.adobe.pdf"),
            (["foo:", "Photos"], "Photos does not open foo: URLs"), (["http:", "Photos"], "http: is built in"),
            (["public.image", "nobody"], "there is no handler nobody"), ([":", "Photos"], "is not a URL scheme"),
            (["", "Photos"], "is not a uniform type identifier"), (["a\u{1B}b", "Photos"], "a\\u{1B}b"),
            (["public.image", "hook"], "the hook is asked after all handlers"), (["--remove"], "--remove needs"),
            (["public.image", "Photos", "--remove"], "--remove needs"),
        ])
    func noDefault(words: [String], message: String) async throws {
        let shelf = HandlerShelf(hook: "on-arrival")
        try await shelf.add("Photos", "public.image")
        do {
            _ = try await shelf.run(["default"] + words)
            Issue.record("it was taken")
        } catch let failure as CommandError {
            #expect(failure.exit == (message.hasPrefix("there is no handler") ? .inputMissing : .usage))
            #expect(failure.message.contains(message))
        } catch {
            #expect(HandlersCommand.exitCode(for: error).rawValue == 64)
            #expect(HandlersCommand.message(for: error).contains(message))
        }
        #expect(!FileManager.default.fileExists(atPath: shelf.choices))
    }
}
