import Foundation
import Subprocess
import Testing

/// Standard streams that are closed, silent or full, and the signals with which scripts end programs.
@Suite("Standard streams on loopback", .serialized)
struct StandardStreamTests {
    private func shell(_ script: String, _ words: [String] = [], in folder: String) async throws -> ProgramResult {
        try await Host.loopback(folder + "/study").run(
            "/bin/sh", ["-c", script, Programs.waft] + words, in: folder)
    }

    @Test("waft send - with a closed standard input is 66, and reports it")
    func closedInput() async throws {
        try await withTemporaryFolder { folder in
            let outcome = try await shell("exec \"$0\" send - --to 127.0.0.1:1 <&-", in: folder)
            #expect(outcome.exit == 66, "\(outcome.errors)")
            #expect(outcome.errors == "waft: standard input is closed; pipe something in\n")
        }
    }

    @Test("SIGTERM and SIGINT end waft send - while its standard input is silent", arguments: ["TERM", "INT"])
    func silentInput(signal: String) async throws {
        try await withTemporaryFolder { folder in
            try await Host.loopback(folder + "/kitchen").withReceiver { running in
                // Opened for both directions, the pipe has no end. The receiver is asked before anything is read.
                let script = """
                    mkfifo pipe && exec 3<>pipe
                    exec timeout --preserve-status -k 20 -s \(signal) 3 "$0" send - --name a --to "$1" <pipe
                    """
                let outcome = try await shell(script, [running.address], in: folder)
                #expect(outcome.exit == 130, "\(outcome.errors)")
            }
        }
    }

    @Test("waft send --text - sends the text that is piped in, and no empty one")
    func pipedText() async throws {
        try await withTemporaryFolder { folder in
            try await Host.loopback(folder + "/kitchen").withReceiver { running in
                let sent = try await shell(
                    "echo back at six | exec \"$0\" send --text - --to \"$1\"", [running.address], in: folder)
                #expect(sent.exit == 0, "\(sent.errors)")
                #expect(try running.names() == ["back at six.txt"])
                let text = try String(contentsOfFile: running.inbox + "/back at six.txt", encoding: .utf8)
                #expect(text == "back at six\n")
                let empty = try await shell(
                    "exec \"$0\" send --text - --to \"$1\" </dev/null", [running.address], in: folder)
                #expect(empty.exit == 66 && empty.errors.contains("standard input is empty"), "\(empty.errors)")
                let bytes = try await shell(
                    "printf 'a\\377' | exec \"$0\" send --text - --to \"$1\"", [running.address], in: folder)
                #expect(bytes.exit == 66 && bytes.errors.contains("is not UTF-8 text"), "\(bytes.errors)")
            }
        }
    }

    @Test(
        "a name that is not UTF-8 is reported as such, and not as a missing file",
        arguments: ["send --to 127.0.0.1:1", "type"])
    func otherEncoding(verb: String) async throws {
        try await withTemporaryFolder { folder in
            let script = "f=$(printf 'bad\\377.txt'); echo x >\"$f\"; exec \"$0\" \(verb) \"$f\""
            let outcome = try await shell(script, in: folder)
            #expect(outcome.exit == 66)
            #expect(outcome.errors.hasPrefix("waft: bad\u{FFFD}.txt: the name is not UTF-8"), "\(outcome.errors)")
            #expect(outcome.errors.contains("rename it"))
        }
    }

    @Test("--skip-unreadable leaves out a named file whose name is not UTF-8")
    func otherEncodingLeftOut() async throws {
        try await withTemporaryFolder { folder in
            try await Host.loopback(folder + "/kitchen").withReceiver { running in
                let script = """
                    echo x >a; exec "$0" send a "$(printf 'bad\\377.txt')" --skip-unreadable --to "$1"
                    """
                let outcome = try await shell(script, [running.address], in: folder)
                #expect(outcome.exit == 0, "\(outcome.errors)")
                let words = "left out: bad\u{FFFD}.txt: the name is not UTF-8"
                #expect(outcome.errors.hasPrefix(words), "\(outcome.errors)")
                #expect(try running.names() == ["a"])
            }
        }
    }

    @Test("results that cannot be written are a failure")
    func fullOutput() async throws {
        try await withTemporaryFolder { folder in
            let outcome = try await shell("exec \"$0\" contacts me >/dev/full", in: folder)
            #expect(outcome.exit == 1)
            #expect(
                outcome.errors.hasSuffix("waft: the results could not be written: No space left on device\n"),
                "\(outcome.errors)")
        }
    }

    @Test("a program whose three streams are closed does its work")
    func allClosed() async throws {
        try await withTemporaryFolder { folder in
            try await Host.loopback(folder + "/kitchen").withReceiver { running in
                let script = "echo x >a; exec \"$0\" send a --to \"$1\" <&- >&- 2>&-"
                let outcome = try await shell(script, [running.address], in: folder)
                #expect(outcome.exit == 0)
                #expect(try running.names() == ["a"])
            }
        }
    }

    @Test(
        "a word that begins with one hyphen is no bundle of options: it is 64, with the words to write instead",
        arguments: [
            ["send", "-holiday.jpg", "--to", "127.0.0.1:1"], ["send", "a.jpg", "-holiday.jpg"],
            ["type", "-holiday.jpg"], ["inbox", "remove", "-holiday.jpg"], ["accept", "-holiday.jpg"],
            ["send", "a.jpg", "--name", "-holiday.jpg"],
        ])
    func hyphens(words: [String]) async throws {
        try await withTemporaryFolder { folder in
            let outcome = try await Host.loopback(folder + "/study").run(arguments: words, in: folder)
            #expect(outcome.exit == 64)
            #expect(outcome.errors.hasPrefix("waft: there is no option -holiday.jpg\n"), "\(outcome.errors)")
            #expect(outcome.errors.contains("write: ./-holiday.jpg"))
        }
    }

    @Test("files that are named like options are sent behind --, and as ./-h")
    func namedLikeOptions() async throws {
        try await withTemporaryFolder { folder in
            try await Host.loopback(folder + "/kitchen").withReceiver { running in
                let script = "echo x >-h; echo y >--help; exec \"$0\" send ./-h --to \"$1\" -- --help"
                let outcome = try await shell(script, [running.address], in: folder)
                #expect(outcome.exit == 0, "\(outcome.errors)")
                #expect(try Set(running.names()) == ["-h", "--help"])
            }
        }
    }

    @Test(
        "help is a success only where nothing else was asked for",
        arguments: [
            (["send", "--help"], 0), (["inbox", "remove", "-h"], 0), (["help", "send"], 0), (["--help"], 0),
            (["send", "-h", "a.jpg", "--to", "127.0.0.1:1"], 64), (["inbox", "remove", "1", "--help"], 64),
        ])
    func help(words: [String], exit: Int) async throws {
        try await withTemporaryFolder { folder in
            let outcome = try await Host.loopback(folder + "/study").run(arguments: words, in: folder)
            #expect(outcome.exit == exit, "\(outcome.errors)")
            #expect(outcome.output.contains("USAGE: waft"))
        }
    }

    @Test("a reader that begins late gets the whole list")
    func lateReader() async throws {
        try await withTemporaryFolder { folder in
            let host = Host.loopback(folder + "/kitchen")
            let inbox = host.home + "/Documents/Inbox"
            try FileManager.default.createDirectory(atPath: inbox, withIntermediateDirectories: true)
            for number in 1...1_000 { try Data().write(to: URL(fileURLWithPath: "\(inbox)/\(number).txt")) }
            let line = "'\(Programs.waft)' inbox list --json | (sleep 3; wc -l)"
            let read = try await host.run("/bin/sh", ["-c", line])
            #expect(read.output.trimmingCharacters(in: .whitespacesAndNewlines) == "1000", "\(read)")
        }
    }
}
