import Foundation
import Subprocess
import Testing

/// Bad input at the command line: one clear line, nothing left behind, the documented exit code.
@Suite("Bad input on loopback", .serialized)
struct BadInputTests {
    private func sender(_ folder: String) -> Host { .loopback(folder + "/study") }

    private func file(_ folder: String) throws -> String {
        try "x".write(toFile: folder + "/a", atomically: false, encoding: .utf8)
        return folder + "/a"
    }

    private func expect(_ outcome: ProgramResult, exit: Int, saying text: String) {
        #expect(outcome.exit == exit, "\(outcome.errors)")
        #expect(outcome.errors.contains(text), "\(outcome.errors)")
        #expect(outcome.errors.hasPrefix("waft: "))
        #expect(!outcome.errors.contains("Fatal"))
    }

    @Test("an unreadable file is 66")
    func unreadable() async throws {
        try await withTemporaryFolder { folder in
            let path = try file(folder)
            #expect(chmod(path, 0) == 0)
            var host = sender(folder)
            // Root reads everything, so another user has to try.
            if geteuid() == 0 {
                host.prefix = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
            }
            host.home = folder + "/home"
            try FileManager.default.createDirectory(atPath: host.home, withIntermediateDirectories: true)
            if geteuid() == 0 { #expect(chown(host.home, 65_534, 65_534) == 0 && chmod(folder, 0o755) == 0) }
            let program = folder + "/waft"
            try FileManager.default.copyItem(atPath: Programs.waft, toPath: program)
            let outcome = try await host.run(program, ["send", path, "--to", "127.0.0.1:1"])
            expect(outcome, exit: 66, saying: "ermission")
        }
    }

    @Test("a plain HTTP server is 11")
    func plainHTTP() async throws {
        try await withTemporaryFolder { folder in
            try await Helper.run(["python3", "-u", "-m", "http.server", "0", "--bind", "127.0.0.1"]) { line in
                line.split(separator: " ").drop { $0 != "port" }.dropFirst().first.flatMap { Int($0) }
            } body: { port in
                let outcome = try await sender(folder).run(arguments: [
                    "send", try file(folder), "--to", "127.0.0.1:\(port)",
                ])
                expect(outcome, exit: 11, saying: "does not speak TLS")
            }
        }
    }

    @Test("a TLS server that is not Waft is 11")
    func foreignTLS() async throws {
        try await withTemporaryFolder { folder in
            let words = [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                folder + "/key.pem", "-out", folder + "/cert.pem", "-days", "2", "-subj", "/CN=x",
            ]
            let made = try await Subprocess.run(.name("openssl"), arguments: Arguments(words), output: .discarded)
            #expect(made.terminationStatus.isSuccess)
            let server = [
                "openssl", "s_server", "-www", "-accept", "127.0.0.1:0", "-key", folder + "/key.pem", "-cert",
                folder + "/cert.pem",
            ]
            try await Helper.run(server) { line in
                line.hasPrefix("ACCEPT") ? line.split(separator: ":").last.flatMap { Int($0) } : nil
            } body: { port in
                let outcome = try await sender(folder).run(arguments: [
                    "send", try file(folder), "--to", "127.0.0.1:\(port)",
                ])
                expect(outcome, exit: 11, saying: "not waft/1")
            }
        }
    }

    @Test("a server that accepts and says nothing is 11 when the time is up")
    func silence() async throws {
        try await withTemporaryFolder { folder in
            let program =
                "import socket,time\ns=socket.create_server(('127.0.0.1',0))\nprint(s.getsockname()[1],flush=True)\ntime.sleep(600)"
            try await Helper.run(["python3", "-c", program]) {
                Int($0)
            } body: { port in
                let outcome = try await sender(folder).run(
                    arguments: ["send", try file(folder), "--to", "127.0.0.1:\(port)", "--timeout", "0.5"])
                expect(outcome, exit: 11, saying: "no answer")
            }
        }
    }

    @Test("an unanswered offer is 15 when the sender's time is up, and it is withdrawn")
    func noAnswer() async throws {
        try await withTemporaryFolder { folder in
            let host = Host.loopback(folder + "/kitchen")
            try await host.becomeVisible()
            try await host.withReceiver(Programs.waftd, []) { running in
                let outcome = try await sender(folder).run(
                    arguments: ["send", try file(folder), "--to", running.address, "--timeout", "4"])
                expect(outcome, exit: 15, saying: ": nobody answered within 4 s\n")
                _ = try await running.log.first("answered")
                let offers = try await host.run(arguments: ["offers"])
                #expect(offers.errors.contains("no offers wait"), "\(offers.output)")
                #expect(try running.names() == [])
            }
        }
    }

    @Test("without a peer, a program says that there is no terminal to ask at")
    func usage() async throws {
        try await withTemporaryFolder { folder in
            let outcome = try await sender(folder).run(arguments: ["send", "/etc/hostname"])
            #expect(outcome.exit == 64 && outcome.errors.contains("no machine is in view"), "\(outcome.errors)")
        }
    }

    @Test("help is printed with 0 to a request for help alone")
    func helpAsAnswer() async throws {
        try await withTemporaryFolder { folder in
            let host = sender(folder)
            for words in [["--help"], ["help"], ["handlers", "--help"], ["help", "handlers"], ["--version"]] {
                let outcome = try await host.run(arguments: words)
                #expect(outcome.exit == 0 && !outcome.output.isEmpty, "\(words): \(outcome.exit)")
            }
        }
    }

    @Test(
        "without /proc every command says so, and is 1",
        .enabled(if: geteuid() == 0, "NOT RUN: hiding /proc needs root"),
        arguments: [["send", "a"], ["--json"], [], ["--help"]])
    func noProc(words: [String]) async throws {
        try await withTemporaryFolder { folder in
            let script = "mount -t tmpfs none /proc && exec \"$@\""
            for program in [Programs.waft, Programs.waftd] {
                let outcome = try await sender(folder).run(
                    "/usr/bin/unshare", ["-m", "sh", "-c", script, "sh", program] + words)
                expect(outcome, exit: 1, saying: "/proc is not mounted")
            }
        }
    }

    @Test(
        "the words of a command line count where /proc does not show them",
        .enabled(if: geteuid() == 0, "NOT RUN: hiding a file of /proc needs root"))
    func hiddenWords() async throws {
        try await withTemporaryFolder { folder in
            @Sendable func run(_ program: String, _ words: [String]) async throws -> ProgramResult {
                let script = "mount --bind /dev/null /proc/$$/cmdline && exec \"$@\""
                return try await sender(folder).run(
                    "/usr/bin/unshare", ["-m", "sh", "-c", script, "sh", program] + words)
            }
            let file = try self.file(folder)
            try await Host.loopback(folder + "/kitchen").withReceiver { running in
                let sent = try await run(Programs.waft, ["send", file, "--to", running.address])
                #expect(sent.exit == 0, "\(sent)")
                #expect(try running.names() == ["a"])
            }
            let bare = try await run(Programs.waft, [])
            #expect(bare.exit == 64 && bare.errors.contains("USAGE: waft <verb>"), "\(bare)")
            expect(try await run(Programs.waftd, ["--nothing"]), exit: 64, saying: "there is no option --nothing")
            // The launcher of handlers knows its word: it looks for the plan.
            let launcher = try await run(Programs.folder + "/wafthook", ["__sandboxed"])
            #expect(launcher.exit == 118 && launcher.errors.contains("there is none"), "\(launcher)")
        }
    }

    @Test(
        "a WAFT_HOME that is not UTF-8 is 64, and no other folder is made", arguments: ["status", "receive", "peers"])
    func otherEncoding(verb: String) async throws {
        try await withTemporaryFolder { folder in
            let script = "WAFT_HOME=$(printf '%s/h\\377' \"$2\") exec \"$0\" \"$1\""
            let outcome = try await sender(folder).run("/bin/sh", ["-c", script, Programs.waft, verb, folder])
            expect(outcome, exit: 64, saying: "WAFT_HOME is not UTF-8")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
        }
    }

    @Test("Ctrl-C at the sender of a pipe is 130 and says how far it was, and the receiver keeps nothing of it")
    func interruptedSender() async throws {
        try await withTemporaryFolder { folder in
            try await Host.loopback(folder + "/kitchen").withReceiver { running in
                // A pipe that never ends: the transfer is under way until it is interrupted.
                let words = ["send", "-", "--name", "endless", "--to", running.address]
                let configuration = sender(folder).configuration(Programs.waft, words)
                let result = try await Subprocess.run(
                    configuration, input: .inputWriter, output: .discarded, error: .string(limit: 65_536)
                ) { execution in
                    _ = try await execution.standardInputWriter.write(Array(repeating: UInt8(7), count: 1 << 20))
                    _ = try await running.log.first("progress")
                    kill(execution.processIdentifier.value, SIGINT)
                }
                #expect(result.terminationStatus.code == 130, "\(result.standardError)")
                let said = /waft: cancelled at [0-9.]+ [kM]B; standard input cannot be read again/
                #expect(result.standardError.contains(said), "\(result.standardError)")
                let failed = try await running.log.first("failed")
                #expect(failed.reason != nil)
                #expect(try running.names() == [])
                #expect(try running.staged() == [])
            }
        }
    }

    @Test("Ctrl-C at the receiver is 130, and the sender ends with 11")
    func interruptedReceiver() async throws {
        try await withTemporaryFolder { folder in
            let configuration = sender(folder)
            let (sending, exit) = try await Host.loopback(folder + "/kitchen").withReceiver { running in
                let words = ["send", "-", "--name", "endless", "--to", running.address]
                let result = try await Subprocess.run(
                    configuration.configuration(Programs.waft, words),
                    input: .inputWriter, output: .discarded, error: .string(limit: 65_536)
                ) { execution in
                    _ = try await execution.standardInputWriter.write(Array(repeating: UInt8(7), count: 1 << 20))
                    _ = try await running.log.first("progress")
                    running.signal(.interrupt)
                    _ = try await running.log.first("failed")
                    try await execution.standardInputWriter.finish()
                }
                // SIGTERM, which follows, would end a receiver that has not quite ended, with another code.
                await running.log.ended()
                return ProgramResult(exit: result.terminationStatus.code, output: "", errors: result.standardError)
            }
            #expect(exit == 130)
            #expect(sending.exit == 11, "\(sending.errors)")
            #expect(sending.errors.contains("is stopping") || sending.errors.contains("closed"), "\(sending.errors)")
        }
    }

    @Test("a file that changes while it is read is 17, and nothing of it is kept")
    func changing() async throws {
        try await withTemporaryFolder { folder in
            let host = Host.loopback(folder + "/kitchen")
            let path = folder + "/growing"
            #expect(FileManager.default.createFile(atPath: path, contents: Data(count: 64 << 20)))
            try await host.becomeVisible()
            try await host.withReceiver(Programs.waftd, []) { running in
                async let sending = sender(folder).run(arguments: ["send", path, "--to", running.address])
                _ = try await running.log.first("offer")
                // Between the offer and the reading, as if the user saved the file.
                let handle = try #require(FileHandle(forWritingAtPath: path))
                try handle.seekToEnd()
                try handle.write(contentsOf: Data("more".utf8))
                try handle.close()
                while try await host.run(arguments: ["accept", "1"]).exit != 0 {}
                let outcome = try await sending
                expect(outcome, exit: 17, saying: "changed")
                #expect(try running.names() == [])
                #expect(try running.staged() == [])
            }
        }
    }

    @Test("a file that vanishes after the offer is 66, and the others arrive")
    func vanishing() async throws {
        try await withTemporaryFolder { folder in
            let host = Host.loopback(folder + "/kitchen")
            for name in ["a", "b", "c"] {
                try name.write(toFile: folder + "/" + name, atomically: false, encoding: .utf8)
            }
            try await host.becomeVisible()
            try await host.withReceiver(Programs.waftd, []) { running in
                let words = ["send", "a", "b", "c", "--to", running.address]
                async let sending = sender(folder).run(arguments: words, in: folder)
                _ = try await running.log.first("offer")
                try FileManager.default.removeItem(atPath: folder + "/b")
                while try await host.run(arguments: ["accept", "1"]).exit != 0 {}
                let outcome = try await sending
                expect(outcome, exit: 66, saying: "b")
                #expect(try running.names() == ["a", "c"])
            }
        }
    }
}

/// A program that replaces another server while a test runs.
enum Helper {
    /// - Parameter port: finds the port it listens on in a line it prints.
    static func run(
        _ words: [String],
        port: @Sendable @escaping (String) -> Int?,
        body: (Int) async throws -> Void
    ) async throws {
        _ = try await Subprocess.run(
            .name(words[0]), arguments: Arguments(Array(words.dropFirst())),
            input: .none, output: .sequence, error: .combinedWithOutput
        ) { execution in
            var found: Int?
            for try await line in execution.standardOutput.strings() {
                found = port(line)
                if found != nil { break }
            }
            let number = try #require(found, "the other server said no port")
            do {
                try await body(number)
            } catch {
                kill(execution.processIdentifier.value, SIGKILL)
                throw error
            }
            kill(execution.processIdentifier.value, SIGKILL)
        }
    }
}
