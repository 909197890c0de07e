import ArgumentParser
import Testing

@testable import Commands

@Suite("Words that the argument parser refuses")
struct ParserFailureTests {
    /// The failure of a command line of `waft`, checked in the order of the program.
    private func failure(_ words: String...) -> CommandError? {
        let line = CommandWords(words: words)
        do {
            try line.refuseBundles()
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

    @Test("help about an unknown command exits with 64, and help about a known one is help")
    func helpOfNothing() {
        #expect(
            failure("help", "handlers", "check")?.message
                == "no such command \"handlers check\"; waft handlers --help lists them")
        #expect(failure("help", "nope")?.exit == .usage)
        for words in [["help"], ["help", "send"], ["help", "handlers", "add"]] {
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
            (failure("accept"), "see: waft accept --help"), (failure("accept", "x"), "see: waft accept --help"),
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
