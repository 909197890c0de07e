import Foundation
import Testing

/// Protects the user from handlers, and from folders and files of other users.
@Suite("The border", .serialized, .timeLimit(.minutes(2)))
struct BorderTests {
    private func withPair(_ body: @escaping @Sendable (_ kitchen: Host, _ study: Host, String) async throws -> Void)
        async throws
    {
        try await withTemporaryFolder { folder in
            try "hello".write(toFile: folder + "/one.txt", atomically: false, encoding: .utf8)
            try "secret".write(toFile: folder + "/two.txt", atomically: false, encoding: .utf8)
            try await body(.loopback(folder + "/kitchen"), .loopback(folder + "/study"), folder)
        }
    }

    @Test(
        "a hook cannot accept an offer or pair, not even without a sandbox, with the receiver's secret and other names",
        arguments: ["waftd", "drop"])
    func hook(name: String) async throws {
        try await withPair { kitchen, study, folder in
            // The receiver is a link to the program, and the hook's program a copy of it.
            let programs = folder + "/bin"
            try FileManager.default.createDirectory(atPath: programs, withIntermediateDirectories: true)
            let program = programs + "/" + name
            try FileManager.default.copyItem(atPath: Programs.waft, toPath: programs + "/copy")
            try FileManager.default.linkItem(atPath: programs + "/copy", toPath: program)
            try FileManager.default.copyItem(atPath: Programs.folder + "/wafthook", toPath: programs + "/wafthook")
            let tool = name == "waftd" ? Programs.waft : programs + "/copy"
            var kitchen = kitchen
            let place = try kitchen.useHook(
                Self.hook(tool, home: kitchen.home, other: try await study.ownID()), in: folder)
            kitchen.environment["WAFT_HOOK_SANDBOX"] = "none"
            try Self.asking.write(toFile: place + "/ask.py", atomically: false, encoding: .utf8)
            try await kitchen.becomeVisible()
            let words = name == "waftd" ? [] : ["receive", "--accept", "ask"]
            try await kitchen.withReceiver(program, words) { [kitchen] running in
                let visible = try await kitchen.run(arguments: ["visible"]).output
                async let first = study.run(arguments: ["send", folder + "/one.txt", "--to", running.address])
                _ = try await running.log.first("offer")
                async let second = study.run(arguments: ["send", folder + "/two.txt", "--to", running.address])
                _ = try await running.log.first("offer") { $0.from?.id != nil && $0.size == 6 }
                #expect(try await kitchen.run(arguments: ["accept", "1"]).exit == 0, "the user's own shell is heard")
                let arrival = try await running.log.first("stored")
                #expect(arrival.stored == "one.txt")
                #expect(try await running.log.first("opened").handlerAnswer == "yes")
                func said(_ name: String) -> String {
                    (try? String(contentsOfFile: place + "/" + name, encoding: .utf8)) ?? "nothing"
                }
                for name in ["accept", "pair", "visible", "contacts", "handlers"] {
                    #expect(said(name).hasSuffix("\n77\n"), "\(name): \(said(name))")
                    #expect(said(name).contains("handlers do not decide for the user"))
                }
                #expect(said("status").contains("may not command"), "\(said("status"))")
                #expect(said("raw").contains("\"denied\""), "\(said("raw"))")
                let offers = try await kitchen.run(arguments: ["offers"])
                #expect(offers.output.contains("two.txt"), "it still waits: \(offers.output)")
                #expect(try running.names() == ["one.txt"])
                #expect(kitchen.contactsFile == "")
                #expect(try await kitchen.run(arguments: ["visible"]).output == visible)
                #expect(try await kitchen.run(arguments: ["decline", "2"]).exit == 0)
                #expect(try await first.exit == 0)
                #expect(try await second.exit == 12)
            }
        }
    }

    private static func hook(_ tool: String, home: String, other: String) -> String {
        """
        #!/bin/sh
        export WAFT_HOME='\(home)' WAFT_DISCOVERY=off
        say() { name=$1; shift; '\(tool)' "$@" > $name 2>&1; echo $? >> $name; }
        say accept accept 2
        say pair pair --code --timeout 1
        say visible visible off
        say contacts contacts allow \(other) --name friend
        say handlers handlers disable Texts
        say status status
        python3 ask.py "$WAFT_HOME/run" > raw 2>&1
        """
    }

    /// Speaks the control protocol without a command of Waft.
    private static let asking = """
        import socket, sys
        s = socket.socket(socket.AF_UNIX)
        s.connect(sys.argv[1] + "/control")
        secret = open(sys.argv[1] + "/control.secret", "rb").read()
        s.sendall(secret + b'\\n{"message":{"answer":{"accept":true,"offer":2}},"v":2}\\n')
        print(s.makefile().read())
        """

    @Test("waft visible off closes a receiver that takes everything from everyone", arguments: ["waftd", "receive"])
    func off(program: String) async throws {
        try await withPair { kitchen, study, folder in
            let words = program == "waftd" ? [] : ["receive"]
            let path = program == "waftd" ? Programs.waftd : Programs.waft
            // The receiver's option overrides the choice made before.
            #expect(try await kitchen.run(arguments: ["visible", "off"]).exit == 0)
            try await kitchen.withReceiver(path, words + ["--accept", "everyone"], port: freePort()) { running in
                func send() async throws -> ProgramResult {
                    try await study.run(arguments: ["send", folder + "/one.txt", "--to", running.address])
                }
                #expect(try await send().exit == 0)
                let overridden = try await kitchen.run(arguments: ["visible"])
                #expect(
                    overridden.output.hasPrefix("everyone, as the receiver was started")
                        && overridden.output.hasSuffix(": off\n"))
                #expect(try await kitchen.run(arguments: ["visible", "off"]).output == "off\n")
                let status = try await kitchen.run(arguments: ["status"])
                #expect(status.output.contains("visible to       off\n"), "\(status.output)")
                #expect(status.output.contains("discovery        off: not visible\n"))
                #expect(try await send().exit == 11)
                #expect(try await kitchen.run(arguments: ["visible"]).output == "off\n")
                // The choice still counts.
                #expect(try await kitchen.run(arguments: ["visible", "contacts"]).exit == 0)
                _ = try await running.log.second("ready")
                #expect(try await send().exit == 12)
                #expect(try await kitchen.run(arguments: ["visible", "everyone"]).exit == 0)
                #expect(try await send().exit == 0)
            }
        }
    }

    @Test(
        "a file that belongs to another user, or that one can write, is not used",
        .enabled(if: geteuid() == 0, "NOT RUN: needs root, to give folders away"))
    func folders() async throws {
        try await withPair { kitchen, _, _ in
            #expect(try await kitchen.run(arguments: ["contacts", "me"]).exit == 0)
            let (config, inbox) = (kitchen.home + "/config", kitchen.home + "/Documents")
            try FileManager.default.createDirectory(atPath: inbox, withIntermediateDirectories: true)
            try "hook: /bin/true\n".write(toFile: config + "/config.yaml", atomically: false, encoding: .utf8)
            func expectRefusal(_ saying: String, _ commands: [(String, [String])]) async throws {
                for (program, words) in commands {
                    let outcome = try await kitchen.run(program, words)
                    #expect(outcome.exit == 64, "\(words)")
                    #expect(outcome.errors.contains(saying), "\(words) \(outcome.errors)")
                }
            }
            let all = [
                (Programs.waftd, []), (Programs.waft, ["receive"]), (Programs.waft, ["status"]),
                (Programs.waft, ["contacts"]), (Programs.waft, ["send", "--text", "x", "--to", "127.0.0.1:1"]),
            ]
            chmod(config + "/config.yaml", 0o666)
            try await expectRefusal("chmod o-w \(config)/config.yaml", all)
            chmod(config + "/config.yaml", 0o600)
            chown(config, 4242, 4242)
            try await expectRefusal("\(config) belongs to another user (uid 4242)", all)
            chown(config, 0, 0)
            chmod(inbox, 0o777)
            try await expectRefusal(
                "chmod o-w \(inbox)",
                [(Programs.waftd, []), (Programs.waft, ["receive"]), (Programs.waft, ["inbox", "list"])])
            #expect(try await kitchen.run(arguments: ["contacts"]).exit == 0, "which has nothing to do with the Inbox")
            chmod(inbox, 0o755)
            #expect(try await kitchen.run(arguments: ["inbox", "list"]).exit == 0)
        }
    }

    @Test("a receiver whose state was removed stores nothing more, and reports it to the sender and to its user")
    func state() async throws {
        try await withPair { kitchen, study, folder in
            try await kitchen.withReceiver(Programs.waftd, ["--accept", "everyone"]) { running in
                func send(_ name: String) async throws -> ProgramResult {
                    try await study.run(arguments: ["send", folder + "/" + name, "--to", running.address])
                }
                #expect(try await send("one.txt").exit == 0)
                try FileManager.default.removeItem(atPath: kitchen.home + "/state")
                let refused = try await send("two.txt")
                #expect(refused.exit == 14, "\(refused.errors)")
                #expect(refused.errors.contains("journal was removed"), "\(refused.errors) \(refused.output)")
                #expect(try running.names() == ["one.txt"])
                let status = try await kitchen.run(arguments: ["status"])
                #expect(
                    status.output.contains("journal          the receiver's journal was removed"), "\(status.output)")
                #expect(status.output.contains("until the receiver is restarted"))
            }
        }
    }
}
