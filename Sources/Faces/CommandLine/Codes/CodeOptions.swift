import ArgumentParser
import Executors
import Foundation
import Glibc
import Lines
import Operations
import Sharing

/// The options of a transfer by a spoken code, at either side.
struct CodeOptions: ParsableArguments {
    @Flag(name: .long, help: "Show a code for this one transfer; the other person types it.")
    var code = false

    @Option(
        name: .long,
        help: ArgumentHelp("With --code: how many words it has, 2 or 3 (default: 2).", valueName: "number"))
    var codeWords: Int?

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "With --code: seconds, or a time such as 5m, for which it is good (default and most: 10m).",
            valueName: "time"), transform: Seconds.read)
    var time: Seconds?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "With a typed code: where the machine is that shows it, if it cannot be found.",
            valueName: "host[:port]"))
    var at: String?

    @Option(
        name: .customLong("from"),
        help: ArgumentHelp(
            "With a typed code that several machines say to show: the key beside the right one.", valueName: "key"))
    var key: String?

    @Flag(name: .long, help: "With a typed code that has failed here in the last hour: try it once more.")
    var again = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Keep the other machine as a contact for a time such as 30d, if its user says --remember too; the code has "
                + "three words then.", valueName: "time"))
    var remember: String?

    /// The code that this side shows.
    /// - Parameter people: the machines that it is for.
    func showing(people: Int = 1) throws(CommandError) -> Codes.Showing {
        let time = time?.duration ?? .seconds(Codes.longest)
        let remembering = try remembering()
        return try CommandError.of { () throws(WaftError) in
            try Codes.Showing(words: codeWords, for: time, people: people, remembering: remembering)
        }
    }

    private func remembering() throws(CommandError) -> Duration? {
        try remember.map { text throws(CommandError) in
            try CommandError.of { () throws(WaftError) in
                do throws(WaftError) { return try ContactTerms.duration(text) } catch { throw error.at("--remember") }
            }
        }
    }

    /// - Parameter isTyped: whether a code is typed at this side.
    func check(isTyped: Bool) throws(CommandError) {
        if !code, !isTyped, remember != nil { throw CommandError(.usage, "--remember goes with a code") }
        if code, isTyped { throw CommandError(.usage, "a code is shown or typed, not both") }
        if !code, codeWords != nil || time != nil {
            throw CommandError(.usage, "--code-words and --for go with --code")
        }
        if !isTyped, at != nil || key != nil || again {
            throw CommandError(.usage, "--at, --from and --again go with a code that is typed")
        }
        if let time, time.duration > .seconds(Codes.longest) {
            throw CommandError(.usage, "a code is good for ten minutes at the most")
        }
    }

    func search() throws(CommandError) -> Codes.Search {
        let time = try remembering()
        return try CommandError.of { () throws(WaftError) in
            try Codes.Search(at: at, showing: key, triesAgain: again, remembering: time)
        }
    }
}

/// The code that a person has typed.
enum TypedCode {
    /// The variable of the environment that can hold it: other users of the machine see arguments.
    static let variable = "WAFT_CODE"
    private static let bytes = 256

    /// The code of the environment. No child of this program sees it from now on.
    static func ofEnvironment() -> String? {
        defer { unsetenv(variable) }
        return ProcessInfo.processInfo.environment[variable].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The first line of standard input.
    static func ofInput() -> String {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while line.count < bytes, read(STDIN_FILENO, &byte, 1) == 1, byte != UInt8(ascii: "\n") { line.append(byte) }
        return String(decoding: line, as: UTF8.self)
    }

    /// The code that a person types at the terminal: by keys if the terminal can draw the line again, else as a line.
    /// - Throws: `interrupted` on Ctrl-C or the end of the input; `usage` without a terminal.
    static func ofTerminal() async throws(CommandError) -> String {
        guard LineReader.hasTerminal else {
            throw CommandError(.usage, "there is no terminal to type the code at", hint: "waft receive - reads it")
        }
        // Before the question: a Ctrl-C may come as soon as it can be read.
        let signals = EndSignals.watched(SharePrompt.signals)
        let mode = Console.shared.isInteractive ? TerminalMode(without: ECHO | ICANON) : nil
        defer { mode?.end() }
        let code = await withTaskGroup(of: String?.self) { group in
            group.addTask {
                for await _ in signals { break }
                return nil
            }
            group.addTask { mode == nil ? await line() : await keys() }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        guard let code else {
            if mode == nil { Console.shared.endLine() } else { Console.shared.endStatus() }
            throw CommandError(.interrupted, "cancelled")
        }
        return code
    }

    private static let question = "Code: "

    private static func line() async -> String? {
        Console.shared.prompt(question)
        defer { Console.shared.answered() }
        return await LineReader.terminalLine()
    }

    private static func keys() async -> String? {
        var (entry, keys) = (CodeEntry(), TerminalKeys())
        func draw() { Console.shared.status(entry.hint, question + TerminalText.escaped(entry.typed)) }
        draw()
        for await bytes in TypedLines.read(TypedLines.openTerminal, { Array($0) }) {
            for key in keys.take(bytes) {
                switch entry.press(key) {
                case .code(let code):
                    Console.shared.endStatus()
                    return code.text
                case .givenUp: return nil
                case nil: break
                }
            }
            draw()
        }
        return nil
    }
}

extension CompletionKind {
    /// A spoken code: its words, one after the other.
    static var spokenCode: Self {
        .custom { words, index, _ in
            guard words.indices.contains(index), case let typed = words[index].lowercased(),
                let cut = typed.lastIndex(of: "-"), typed.first?.isNumber == true
            else { return [] }
            let (before, beginning) = (typed[...cut], String(typed[typed.index(after: cut)...]))
            return CompletionWords.offered(Codes.words(beginningWith: beginning).map { before + $0 })
        }
    }
}
