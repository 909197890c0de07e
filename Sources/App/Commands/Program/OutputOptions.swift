import ArgumentParser
import Lines
import Operations

/// A line in words for people. Foreign text is escaped.
protocol WordedLine: Line {
    var words: [String] { get }
}

/// Options for the output of a command, and its one printer.
struct OutputOptions: ParsableArguments {
    @Flag(name: .long, help: "Print one JSON document a line.")
    var json = false

    init() {}

    init(json: Bool) { self.json = json }

    /// Prints a line: as JSON, or in its words.
    func show(_ line: some WordedLine) { show(line, as: line.words) }

    /// - Parameter words: replace those of the line. They are made only without `--json`.
    func show(_ line: some Line, as words: @autoclosure () -> [String]) {
        if json { return Console.shared.result(TerminalText.escaped(json: line.json)) }
        for text in words() { Console.shared.result(text) }
    }

    /// Prints the line of a failure: as JSON, or in its words for standard error.
    func fail(_ line: some WordedLine) {
        if json { return show(line) }
        for text in line.words { Console.shared.note(text) }
    }

    /// Prints the failure of one of the words of a command, which goes on.
    func fail(_ failure: CommandError, of subject: EventLine.Subject) {
        json ? EventLine(failure, of: subject).print() : Console.shared.note("waft: \(failure)")
    }

    /// Does something with the Waft of this user.
    /// - Parameter context: nil for the one that forgives faults of the settings.
    /// - Throws: `CommandError`.
    func doing<Value>(
        in context: CommandContext? = nil, _ body: (Waft) async throws(WaftError) -> Value
    ) async throws(CommandError) -> Value {
        let waft = if let context { context.waft } else { try CommandContext.forgiving.waft }
        return try await CommandError.catching { () throws(WaftError) in try await body(waft) }
    }

    /// Does it for each of the words of a command, one after another. A failure is reported, and the first one decides
    /// the exit code.
    /// - Parameter called: names the word in the line of its failure.
    func each<Word>(
        _ words: [Word], called: (Word) -> EventLine.Subject,
        _ body: (Word, Waft) async throws(WaftError) -> some WordedLine
    ) async throws {
        let waft = try CommandContext.forgiving.waft
        var first: CommandError?
        for word in words {
            do throws(WaftError) {
                show(try await body(word, waft))
            } catch {
                let failure = CommandError(error)
                fail(failure, of: called(word))
                first = first ?? failure
            }
        }
        if let first { throw first.exit.code }
    }
}
