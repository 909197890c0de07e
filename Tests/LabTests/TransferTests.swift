import Foundation
import TestSupport
import Testing

/// The main job with the real programs on loopback, by address: no discovery.
@Suite("A transfer on loopback", .serialized)
struct TransferTests {
    /// Runs a receiver and calls `body` with it, a sender's host, and a folder for sources.
    private func withPair(
        _ arguments: [String] = ["receive", "--accept", "everyone", "--name", "kitchen"],
        environment: [String: String] = [:],
        _ body: @Sendable @escaping (RunningReceiver, Host, String) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            var receiver = Host.loopback(folder + "/kitchen")
            receiver.environment.merge(environment) { _, new in new }
            let sources = folder + "/sources"
            try FileManager.default.createDirectory(atPath: sources, withIntermediateDirectories: true)
            let (_, exit) = try await receiver.withReceiver(Programs.waft, arguments) { running in
                try await body(running, .loopback(folder + "/study"), sources)
                #expect(try running.staged() == [], "something was left in staging")
            }
            #expect(exit == 130, "a receiver that is told to end says so")
        }
    }

    @Test("a file arrives with its bytes, read-only, and send exits 0")
    func file() async throws {
        try await withPair { receiver, sender, sources in
            let bytes = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
            try bytes.write(to: URL(fileURLWithPath: sources + "/photo.jpg"))
            let outcome = try await sender.run(arguments: ["send", sources + "/photo.jpg", "--to", receiver.address])
            #expect(outcome.exit == 0, "\(outcome.errors)")
            let path = receiver.inbox + "/photo.jpg"
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
            #expect(try mode(of: path) == 0o444 & ~umaskOfTests)
            let stored = try await receiver.log.first("stored")
            #expect(stored.path == path)
            #expect(stored.type == "public.jpeg")
            #expect(stored.size == 3_000_000)
            #expect(stored.digest?.hasPrefix("sha-256:") == true)
        }
    }

    @Test("a tree keeps dot files, empty folders, links inside it, the executable bit and times")
    func tree() async throws {
        try await withPair { receiver, sender, sources in
            let tree = sources + "/work"
            for folder in ["/work/.git", "/work/empty", "/work/a/b"] {
                try FileManager.default.createDirectory(atPath: sources + folder, withIntermediateDirectories: true)
            }
            try "x".write(toFile: tree + "/.git/HEAD", atomically: false, encoding: .utf8)
            try "#!/bin/sh\n".write(toFile: tree + "/a/run", atomically: false, encoding: .utf8)
            #expect(chmod(tree + "/a/run", 0o6777) == 0)
            try FileManager.default.createSymbolicLink(atPath: tree + "/a/b/up", withDestinationPath: "../run")
            let time = Date(timeIntervalSince1970: 1_234_567_890)
            for path in ["/a/run", "/empty", ""] {
                try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: tree + path)
            }
            let outcome = try await sender.run(arguments: ["send", "work/", "--to", receiver.address], in: sources)
            #expect(outcome.exit == 0, "\(outcome.errors)")
            let arrived = receiver.inbox + "/work"
            let names = try FileManager.default.subpathsOfDirectory(atPath: arrived).sorted()
            #expect(names == [".git", ".git/HEAD", "a", "a/b", "a/b/up", "a/run", "empty"])
            #expect(try mode(of: arrived + "/a/run") == 0o555 & ~umaskOfTests, "no more than read and execute survives")
            #expect(try mode(of: arrived + "/a") == 0o755 & ~umaskOfTests, "folders can be emptied")
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: arrived + "/a/b/up") == "../run")
            for path in ["/a/run", "/empty", ""] {
                let attributes = try FileManager.default.attributesOfItem(atPath: arrived + path)
                #expect(attributes[.modificationDate] as? Date == time, "\(path)")
            }
        }
    }

    @Test("a folder of names that begin with a combining character is sent, named and verified whole")
    func joiningNames() async throws {
        try await withPair { receiver, sender, sources in
            let names = SampleNames.joining
            for name in names {
                try FileManager.default.createDirectory(
                    atPath: "\(sources)/all/d\(name)/\(name)", withIntermediateDirectories: true)
                try name.write(toFile: "\(sources)/all/\(name)", atomically: false, encoding: .utf8)
                try name.write(toFile: "\(sources)/all/d\(name)/\(name)/\(name)", atomically: false, encoding: .utf8)
            }
            let whole = try await sender.run(arguments: ["send", "all", "--to", receiver.address], in: sources)
            #expect(whole.exit == 0, "\(whole.errors)")
            let each = try await sender.run(
                arguments: ["send"] + names.map { "all/" + $0 } + ["--json", "--to", receiver.address], in: sources)
            #expect(each.exit == 0, "\(each.errors)")
            for name in names {
                for place in ["all/\(name)", "all/d\(name)/\(name)/\(name)", name] {
                    let bytes = try Data(contentsOf: URL(fileURLWithPath: receiver.inbox + "/" + place))
                    #expect(bytes == Data(name.utf8), "\(place.debugDescription)")
                }
            }
            let kitchen = Host.loopback(URL(fileURLWithPath: sources).deletingLastPathComponent().path + "/kitchen")
            let verified = try await kitchen.run(arguments: ["inbox", "verify"])
            #expect(verified.exit == 0, "\(verified.output)\(verified.errors)")
            let listed = try await kitchen.run(arguments: ["inbox", "list", "--json"])
            #expect(listed.output.split(separator: "\n").count == names.count + 1, "\(listed.output)")
        }
    }

    @Test("everything that cannot be sent is named with the true reason, in one answer")
    func manyProblems() async throws {
        try await withPair { receiver, sender, sources in
            try FileManager.default.createDirectory(atPath: sources + "/all", withIntermediateDirectories: true)
            for name in ["\u{301}good", "\u{301}\u{7}bad", "a\nb", "good"] {
                try name.write(toFile: "\(sources)/all/\(name)", atomically: false, encoding: .utf8)
            }
            let refused = try await sender.run(
                arguments: ["send", "all", "gone", "--to", receiver.address], in: sources)
            #expect(refused.exit == 66)
            let reason = "the name contains control or direction-changing characters; rename it, or leave it out"
            let lines = [
                "waft: all/a\\nb: \(reason)", "  all/\\u{301}\\u{7}bad: \(reason)",
                "  gone: there is no such file or folder",
                "  --skip-unreadable sends the rest; --exclude PATTERN leaves files and folders out by name",
            ]
            #expect(refused.errors == lines.joined(separator: "\n") + "\n")
        }
    }

    @Test("a text becomes a .txt file, a URL a .url file, standard input the file it is named")
    func others() async throws {
        try await withPair { receiver, sender, _ in
            let words = ["send", "--text", "back at six", "--url", "https://example.com/a?b", "--to", receiver.address]
            let outcome = try await sender.run(arguments: words)
            #expect(outcome.exit == 0, "\(outcome.errors)")
            let piped = try await sender.run(
                arguments: ["send", "-", "--name", "list.csv", "--to", receiver.address], input: "a,b\n")
            #expect(piped.exit == 0, "\(piped.errors)")
            #expect(try receiver.names() == ["back at six.txt", "example.com.url", "list.csv"])
            let url = try String(contentsOfFile: receiver.inbox + "/example.com.url", encoding: .utf8)
            #expect(url == "[InternetShortcut]\r\nURL=https://example.com/a?b\r\n")
            #expect(try String(contentsOfFile: receiver.inbox + "/list.csv", encoding: .utf8) == "a,b\n")
        }
    }

    @Test("an existing item is never replaced: the second of a name gets a number")
    func collision() async throws {
        try await withPair { receiver, sender, sources in
            for text in ["one", "two", "three"] {
                try text.write(toFile: sources + "/n.tar.gz", atomically: false, encoding: .utf8)
                let outcome = try await sender.run(arguments: ["send", sources + "/n.tar.gz", "--to", receiver.address])
                #expect(outcome.exit == 0, "\(outcome.errors)")
            }
            #expect(try receiver.names() == ["n-1.tar.gz", "n-2.tar.gz", "n.tar.gz"])
            #expect(try String(contentsOfFile: receiver.inbox + "/n.tar.gz", encoding: .utf8) == "one")
            #expect(try String(contentsOfFile: receiver.inbox + "/n-2.tar.gz", encoding: .utf8) == "three")
        }
    }

    @Test("several peers get it at the same time, each once, and the first failure in order is the exit code")
    func severalPeers() async throws {
        try await withPair { receiver, sender, sources in
            try "x".write(toFile: sources + "/a", atomically: false, encoding: .utf8)
            try await Host.loopback(sources + "/hall").withReceiver { hall in
                let words = [
                    "send", sources + "/a", "--json", "--to", receiver.address, "--to", "127.0.0.1:1", "--to",
                    hall.address, "--to", receiver.address,
                ]
                let outcome = try await sender.run(arguments: words)
                #expect(outcome.exit == 11)
                #expect(outcome.events.filter { $0.event == "stored" }.count == 2)
                #expect(outcome.events.filter { $0.event == "failed" }.count == 1)
                #expect(outcome.events.last?.event == "done")
                #expect(outcome.events.last?.exit == 11)
                #expect(try receiver.names() == ["a"])
                #expect(try hall.names() == ["a"])
            }
        }
    }

    @Test("the hook gets arguments, environment and document, and --wait opened its answer")
    func hook() async throws {
        try await withTemporaryFolder { folder in
            let script = """
                #!/bin/sh
                { echo "$1|$2|$WAFT_FILE|$WAFT_TYPE|$WAFT_NAME|$WAFT_SIZE|$WAFT_PEER_NAME|$(pwd)"; cat; } >> record
                case $WAFT_NAME in *no*) exit 1 ;; *odd*) exit 9 ;; esac
                """
            var host = Host.loopback(folder)
            let hook = try host.useHook(script, in: folder)
            try await withPair(environment: host.environment) { receiver, sender, sources in
                for (name, exit) in [("it's $(id).txt", 0), ("no.txt", 16), ("odd.txt", 16)] {
                    try "hey".write(toFile: sources + "/" + name, atomically: false, encoding: .utf8)
                    let words = ["send", name, "--wait", "opened", "--note", "n1", "--json", "--to", receiver.address]
                    let outcome = try await sender.run(arguments: words, in: sources)
                    #expect(outcome.exit == exit, "\(outcome.errors)")
                }
                let record = try String(contentsOfFile: hook + "/record", encoding: .utf8)
                let line = record.split(separator: "\n").first.map(String.init) ?? ""
                let file = receiver.inbox + "/it's $(id).txt"
                let url = URL(fileURLWithPath: file).absoluteString
                let name = try await sender.run(arguments: ["status"]).exit == 69 ? hostName : ""
                #expect(line == "open-url|\(url)|\(file)|public.plain-text|it's $(id).txt|3|\(name)|\(hook)")
                #expect(record.contains("\"annotation\":{\"note\":\"n1\"}"))
                let failed = try await receiver.log.first("failed")
                #expect(failed.exitCode == 1)
                #expect(
                    try receiver.names() == ["it's $(id).txt", "no.txt", "odd.txt"],
                    "they stay in the Inbox all the same")
            }
        }
    }

    @Test("--once ends the receiver with 0 after the first transfer")
    func once() async throws {
        try await withTemporaryFolder { folder in
            try "x".write(toFile: folder + "/a", atomically: false, encoding: .utf8)
            let receiver = Host.loopback(folder + "/kitchen")
            let (_, exit) = try await receiver.withReceiver(
                arguments: ["receive", "--accept", "everyone", "--once"]
            ) { running in
                let outcome = try await Host.loopback(folder + "/study")
                    .run(arguments: ["send", folder + "/a", "--to", running.address])
                #expect(outcome.exit == 0)
                await #expect(throws: EventLog.Ended.self) { try await running.log.first("nothing of the kind") }
            }
            #expect(exit == 0)
        }
    }

    @Test("waftd logs to standard error, answers waft status, is the only receiver, and ends with 0 on SIGTERM")
    func daemon() async throws {
        try await withTemporaryFolder { folder in
            let host = Host.loopback(folder + "/kitchen")
            let (_, exit) = try await host.withReceiver(Programs.waftd, ["--name", "kitchen"]) { running in
                let status = try await host.run(arguments: ["status", "--json"])
                #expect(status.exit == 0)
                #expect(status.output.contains("\"name\":\"kitchen\""))
                #expect(status.output.contains("\"port\":\(running.port)"))
                let second = try await host.run(Programs.waftd, [])
                #expect(second.exit == 64)
                #expect(second.errors.contains("running already"))
                let receiving = try await host.run(arguments: ["receive"])
                #expect(receiving.exit == 64)
                #expect(receiving.errors.contains("to answer its offers here: waft offers --watch, then waft accept N"))
                try await running.log.error(containing: "receiving")
            }
            #expect(exit == 0)
            let status = try await host.run(arguments: ["status"])
            #expect(status.exit == 69)
        }
    }

    @Test("an offer to a daemon that asks waits for waft accept or waft decline, and each tells its success")
    func answers() async throws {
        try await withTemporaryFolder { folder in
            try "x".write(toFile: folder + "/a", atomically: false, encoding: .utf8)
            let host = Host.loopback(folder + "/kitchen")
            let sender = Host.loopback(folder + "/study")
            try await host.becomeVisible()
            try await host.withReceiver(Programs.waftd, []) { running in
                for (verb, exit, number) in [("accept", 0, 1), ("decline", 12, 2)] {
                    async let sending = sender.run(arguments: ["send", folder + "/a", "--to", running.address])
                    _ = try await running.log.first("offer") { _ in true }
                    var offers = try await host.run(arguments: ["offers"])
                    // The event comes a moment before the offer is in the queue.
                    while !offers.output.contains("\(number): ") { offers = try await host.run(arguments: ["offers"]) }
                    #expect(offers.output.contains("a  data, 1 byte"), "\(offers.output)")
                    let answered = try await host.run(arguments: [verb, "\(number)"])
                    #expect(answered.exit == 0)
                    #expect(answered.output == "offer \(number) \(verb)\(verb.hasSuffix("e") ? "d" : "ed")\n")
                    let outcome = try await sending
                    #expect(outcome.exit == exit, "\(outcome.errors)")
                }
                #expect(try running.names() == ["a"])
                #expect(try await host.run(arguments: ["accept", "7"]).exit == 66)
            }
        }
    }

    private var hostName: String {
        let name = ProcessInfo.processInfo.hostName
        return String(name.split(separator: ".").first ?? "")
    }
}

/// The permission bits of a path.
func mode(of path: String) throws -> UInt16 {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return (attributes[.posixPermissions] as? NSNumber)?.uint16Value ?? 0
}

/// The umask that the tests and the programs they start run with.
let umaskOfTests: UInt16 = {
    let mask = umask(0)
    umask(mask)
    return UInt16(mask)
}()

extension Host {
    func run(arguments: [String], input: String = "", in folder: String? = nil) async throws -> ProgramResult {
        try await run(Programs.waft, arguments, input: input, in: folder)
    }

    @discardableResult
    func withReceiver<Result: Sendable>(
        arguments: [String],
        _ body: @Sendable @escaping (RunningReceiver) async throws -> Result
    ) async throws -> (result: Result, exit: Int) {
        try await withReceiver(Programs.waft, arguments, body)
    }
}
