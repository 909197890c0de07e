import ArgumentParser
import Lines
import Testing

@testable import CommandLine

@Suite("Words that the argument parser refuses")
struct ParserFailureTests {
    /// The failure of a command line of `waft`, checked in the order of the program.
    private func failure(_ words: String...) -> CommandError? {
        let line = CommandWords(words: words)
        do {
            try line.refuseBundles(in: WaftCommand.self)
            try line.refuseHelpOfNothing(in: WaftCommand.self)
            _ = try WaftCommand.parseAsRoot(words)
            return nil
        } catch let failure as CommandError {
            return failure
        } catch {
            return ParserError.make(error, line, of: WaftCommand.self)
        }
    }

    @Test("an unknown command is named, with the list of all commands and the one that was probably meant")
    func unknownCommand() {
        #expect(failure("xylophone")?.message == "no such command \"xylophone\"; waft --help lists them")
        #expect(
            failure("sned", "a.jpg")?.message == "no such command \"sned\"; did you mean send? waft --help lists them")
        #expect(
            failure("handlers", "chek")?.message == "no such command \"handlers chek\"; waft handlers --help lists them"
        )
        #expect(
            failure("inbox", "tak", "1")?.message
                == "no such command \"inbox tak\"; did you mean inbox take? waft inbox --help lists them")
        #expect(failure("xylophone")?.exit == .usage)
    }

    @Test(
        "a word of other programs leads to the verb",
        arguments: [
            ("devices", "peers"), ("ls", "inbox"), ("log", "history"), ("cancel", "offers cancel"),
            ("settings", "config"),
        ])
    func synonyms(word: String, verb: String) {
        let refused = failure(word)
        #expect(refused?.exit == .usage)
        let message = refused?.message ?? ""
        #expect(message.hasPrefix("no such command \"\(word)\"; for that, type: waft "), "\(message)")
        #expect(message.hasSuffix(" \(verb)") || message.hasSuffix(" transfers cancel"), "\(message)")
    }

    @Test("complaints are without the notation of the parser, and suggest only an option that is near")
    func notation() {
        #expect(failure("send", "--limit", "1")?.message == "there is no option --limit")
        #expect(failure("send", "--quit")?.message == "there is no option --quit; did you mean --quiet?")
        #expect(failure("inbox", "show")?.message == "the item is missing")
        #expect(failure("accept", "x")?.message == "the value 'x' is invalid for the offer")
        #expect(failure("receive", "--port", "x")?.message == "the value 'x' is invalid for --port")
        #expect(failure("receive", "--port")?.message == "missing value for --port")
        #expect(failure("-v")?.hint == "for the version: waft --version")
    }

    @Test("help about an unknown command exits with 64, and help about a known one is help")
    func helpOfNothing() {
        #expect(
            failure("help", "handlers", "check")?.message
                == "no such command \"handlers check\"; waft handlers --help lists them")
        #expect(failure("help", "nope")?.exit == .usage)
        for words in [["help"], ["help", "send"], ["help", "handlers", "add"], ["help", "exit-codes"]] {
            #expect(throws: Never.self) { try CommandWords(words: words).refuseHelpOfNothing(in: WaftCommand.self) }
        }
    }

    @Test("a negative number is recognised as one, and not taken for an option")
    func negative() {
        let refused = failure("send", "a.jpg", "--timeout", "-3")
        #expect(refused?.message == "--timeout -3: the value must be positive")
        #expect(refused?.exit == .usage)
        #expect(failure("send", "a.jpg", "--name", "-3")?.message == "there is no option -3")
    }

    @Test("each complaint of the parser is one line with a small letter, and says where the help is")
    func oneStyle() {
        let lines: [(CommandError?, hint: String)] = [
            (failure("accept", "x"), "see: waft accept --help"),
            (failure("send", "--wait", "soon"), "see: waft send --help"),
            (failure("send", "--nonsense"), "see: waft send --help"),
            (failure("inbox", "take", "1"), "see: waft inbox take --help"), (failure("--nonsense"), "see: waft --help"),
            (failure("send", "--snapshot"), "see: waft send --help"),
            (failure("receive", "--port"), "see: waft receive --help"),
        ]
        for (failure, hint) in lines {
            let message = failure?.message ?? ""
            #expect(failure?.exit == .usage && failure?.hint == hint, "\(message)")
            #expect(!message.isEmpty && !message.contains("\n") && !message.hasSuffix("."))
            #expect(message.prefix(1) == message.prefix(1).lowercased())
        }
        #expect(failure("send", "--snapshot")?.message == "--snapshot and --expires go with --queue")
    }

    @Test("a word that a terminal would obey is escaped")
    func escaping() {
        #expect(failure("do\u{1B}[31m")?.message.contains("\u{1B}") == false)
        #expect(failure("accept", "\u{1B}[31m")?.message.contains("\u{1B}") == false)
    }
}
