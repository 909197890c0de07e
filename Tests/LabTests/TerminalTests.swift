import Foundation
import Testing

/// The output at a terminal, and the user's input.
@Suite("At a terminal, on loopback", .serialized, .timeLimit(.minutes(1)))
struct TerminalTests {
    @Test("waft send without --to asks for a peer, suggests a next step when it finds none, and takes an address")
    func picking() async throws {
        try await withTemporaryFolder { folder in
            try await Host.loopback(folder + "/kitchen").withReceiver { running in
                try "x".write(toFile: folder + "/a", atomically: false, encoding: .utf8)
                let study = Host.loopback(folder + "/study", terminal: "dumb")
                let end = try await study.atTerminal(["send", "a"], in: folder) { terminal in
                    try await terminal.transcript.says(
                        "run waft receive or, if waftd runs there, waft visible everyone")
                    try await terminal.transcript.says("Send to (number, name or address; q to give up): ")
                    try await terminal.type("nobody\n")
                    try await terminal.transcript.says("\"nobody\" is not in the list")
                    try await terminal.type(running.address + "\n")
                    try await terminal.transcript.says("stored as a")
                }
                #expect(end.exit == 0, "\(end.text)")
                #expect(try running.names() == ["a"])
            }
        }
    }

    @Test("arrow keys and Enter choose from the list of waft share, a text finds its row, and Esc gives up")
    func keys() async throws {
        try await withTemporaryFolder { folder in
            try "hello\n".write(toFile: folder + "/a.txt", atomically: false, encoding: .utf8)
            let study = Host.loopback(folder + "/study", terminal: "xterm")
            let words = ["share", "a.txt"]
            let shown = try await study.atTerminal(words, in: folder) { terminal in
                try await terminal.transcript.says(">   1  Send Later")
                try await terminal.type("\u{1B}[B")
                try await terminal.transcript.says(">   2  ")
                try await terminal.type("prev")
                try await terminal.transcript.says("? prev")
                try await terminal.type("\n")
                try await terminal.transcript.says("  hello")
            }
            #expect(shown.exit == 0 && shown.text.contains("Share with? Preview\r\n"), "\(shown.text)")
            let left = try await study.atTerminal(words, in: folder) { terminal in
                try await terminal.transcript.says("Share with? ")
                try await terminal.type("\u{1B}")
                try await terminal.transcript.says("nothing was shared")
            }
            #expect(left.exit == 130, "\(left.text)")
        }
    }

    @Test("the terminal is left as it was when a key chooses, when the person gives up, and at each signal")
    func restored() async throws {
        try await withTemporaryFolder { folder in
            try "x".write(toFile: folder + "/a", atomically: false, encoding: .utf8)
            let study = Host.loopback(folder + "/study", terminal: "xterm")
            // An interactive shell puts the modes of the terminal right itself: this one is none.
            let script =
                "stty -a >before; (echo $BASHPID >pid; exec \"$0\" send a); stty -a >after; cmp before after && echo same"
            let command = "exec bash -c '\(script)' '\(Programs.waft)'"
            let words = ["--quiet", "--flush", "--echo", "never", "--command", command, "/dev/null"]
            for signal in ["", "INT", "TERM", "HUP", "QUIT"] {
                let end = try await study.withProgram("/usr/bin/script", words, in: folder) { shell in
                    try await shell.transcript.says("Esc gives up")
                    if signal.isEmpty {
                        try await shell.type("\u{1B}")
                    } else {
                        _ = try await study.run("/bin/sh", ["-c", "kill -\(signal) $(cat '\(folder)/pid')"])
                    }
                    try await shell.transcript.says("same")
                }
                #expect(end.text.contains("nothing was sent"), "\(signal): \(end.text)")
            }
        }
    }

    @Test("Ctrl-C at the list of peers says that nothing was sent")
    func cancelledPicking() async throws {
        try await withTemporaryFolder { folder in
            try "x".write(toFile: folder + "/a", atomically: false, encoding: .utf8)
            let end = try await Host.loopback(folder + "/study").atTerminal(["send", "a"], in: folder) { terminal in
                try await terminal.transcript.says("Send to")
                try await terminal.type("\u{3}")
                try await terminal.transcript.says("waft: cancelled; nothing was sent")
            }
            #expect(end.exit == 130, "\(end.text)")
        }
    }

    @Test("Ctrl-C at the question for a code says that nothing was paired")
    func cancelledCode() async throws {
        try await withTemporaryFolder { folder in
            let study = Host.loopback(folder + "/study")
            let end = try await study.atTerminal(["pair", "127.0.0.1:1", "--code"], in: folder) { terminal in
                try await terminal.transcript.says("Code shown by the other machine: ")
                try await terminal.type("\u{3}")
                try await terminal.transcript.says("waft: cancelled; not paired")
            }
            #expect(end.exit == 130, "\(end.text)")
        }
    }

    @Test("Ctrl-C at a receiver leaves the cursor on a new line")
    func endOfReceiver() async throws {
        try await withTemporaryFolder { folder in
            let kitchen = Host.loopback(folder + "/kitchen")
            let end = try await kitchen.atTerminal(["receive", "--port", "0"]) { terminal in
                try await terminal.transcript.says("waft send FILE --to")
                try await terminal.type("\u{3}")
            }
            #expect(end.exit == 130, "\(end.text)")
            let text = end.text.replacing("\r\n", with: "\n")
            #expect(text.hasSuffix("\n^C\n") || text.hasSuffix("\n\n"), "\(end.text)")
        }
    }

    @Test("a receiver in the background of a shell runs, asks nothing, and names the verbs that answer")
    func background() async throws {
        try await withTemporaryFolder { folder in
            let kitchen = Host.loopback(folder + "/kitchen")
            let words = [
                "--quiet", "--flush", "--command", "exec bash --norc --noprofile -i", "/dev/null",
            ]
            let end = try await kitchen.withProgram("/usr/bin/script", words, in: folder) { shell in
                try await shell.type("'\(Programs.waft)' receive --port 0 &\n")
                try await shell.transcript.says("answer with: waft offers")
                try await shell.transcript.says("waft send FILE --to")
                try await shell.type("'\(Programs.waft)' visible\n")
                try await shell.transcript.says("everyone")
                try await shell.type("echo running: $(jobs -r | wc -l); kill %1; wait; exit\n")
                try await shell.transcript.says("running: 1")
            }
            #expect(!end.text.contains("Stopped"), "\(end.text)")
        }
    }

    @Test("waft visible reports that no receiver is running")
    func invisible() async throws {
        try await withTemporaryFolder { folder in
            let kitchen = Host.loopback(folder + "/kitchen")
            let words = "waft: no receiver is running here: nobody sees this machine until waftd runs\n"
            #expect(try await kitchen.run(arguments: ["visible", "everyone"]).errors == words)
            #expect(try await kitchen.run(arguments: ["visible"]).errors == words)
            try await kitchen.withReceiver(Programs.waftd, []) { _ in
                for words in [["visible", "everyone"], ["visible"]] {
                    let outcome = try await kitchen.run(arguments: words)
                    #expect(outcome.exit == 0 && outcome.errors == "", "\(outcome.errors)")
                }
            }
        }
    }
}
