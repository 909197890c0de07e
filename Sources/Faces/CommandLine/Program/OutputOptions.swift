import ArgumentParser
import Lines
import Operations
import Sharing

/// A line in words for people. Foreign text is escaped.
protocol WordedLine: Line {
    var words: [String] { get }
    /// Problems beside the success.
    var problems: [String] { get }
}

extension WordedLine {
    var problems: [String] { [] }
}

/// Options for the output of a command, and its one printer.
struct OutputOptions: ParsableArguments {
    @Flag(name: .long, help: "Print one JSON document a line.")
    var json = false

    init() {}

    init(json: Bool) { self.json = json }

    /// Prints a line: as JSON, or in its words.
    func show(_ line: some WordedLine) {
        show(line, as: line.words)
        for problem in line.problems { note("waft: \(problem)") }
    }

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

    /// Prints a line that only people read.
    func say(_ text: @autoclosure () -> String) {
        if !json { Console.shared.result(text()) }
    }

    /// Prints a line for people beside the results.
    func note(_ text: @autoclosure () -> String) {
        if !json { Console.shared.note(text()) }
    }

    /// Prints the failure of one of the words of a command, which goes on.
    func fail(_ failure: CommandError, of subject: FailedLine.Subject) {
        json ? show(failure.line(of: subject), as: []) : Console.shared.note("waft: \(failure)")
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

    /// Shows the line of an operation.
    func show<Shown: WordedLine>(_ operation: (Waft) async throws(WaftError) -> Shown) async throws(CommandError) {
        show(try await doing(operation))
    }

    /// Does it for each of the words of a command, one after another. A failure is reported, and the first one decides
    /// the exit code.
    /// - Parameter called: names the word in the line of its failure.
    func each<Word, Shown: WordedLine>(
        _ words: [Word], called: (Word) -> FailedLine.Subject,
        _ body: (Word, Waft) async throws(WaftError) -> Shown
    ) async throws {
        let waft = try CommandContext.forgiving.waft
        try await each(words, called: called) { word throws(WaftError) in show(try await body(word, waft)) }
    }

    /// - Parameter body: shows its lines itself.
    func each<Word>(
        _ words: [Word], called: (Word) -> FailedLine.Subject, _ body: (Word) async throws(WaftError) -> Void
    ) async throws {
        var first = WaftExit.done
        for word in words {
            do throws(WaftError) {
                try await body(word)
            } catch {
                fail(CommandError(error), of: called(word))
                if first == .done { first = error.code }
            }
        }
        if first != .done { throw first.code }
    }

    /// The same where only a failure in the result is that of its word. An error ends the command.
    func each<Word, Shown: WordedLine>(
        _ words: [Word], called: (Word) -> FailedLine.Subject,
        resultOf body: (Word, Waft) async throws(WaftError) -> Result<Shown, WaftError>
    ) async throws {
        var first = WaftExit.done
        for word in words {
            let code: WaftExit
            switch try await doing({ waft throws(WaftError) in try await body(word, waft) }) {
            case .success(let line):
                show(line)
                code = line.problems.isEmpty ? .done : .unexpected
            case .failure(let failure):
                fail(CommandError(failure), of: called(word))
                code = failure.code
            }
            if first == .done { first = code }
        }
        if first != .done { throw first.code }
    }

    /// Shows the events of the running receiver until Ctrl-C, which is the normal end.
    ///
    /// - Throws: `CommandError`, 69 if no receiver is running, or if it ends.
    func follow(_ see: @escaping @Sendable (ControlEvent) -> Void) async throws {
        let (end, receiver) = (Cancellation(), try CommandContext.forgiving.waft.receiver)
        do {
            try await Interruption.watching(end, goodbye: .zero) {
                try await receiver.watch { event in see(event) }
            }
        } catch is CancellationError {
            return
        } catch  where end.isRequested {
            return
        } catch let error as WaftError {
            throw CommandError(error)
        }
        guard !end.isRequested else { return }
        throw CommandError(.notRunning, "the receiver ended, or its events were read too slowly")
    }
}
