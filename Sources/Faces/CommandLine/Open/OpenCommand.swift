import ArgumentParser
import Lines
import Operations
import Sharing

/// `waft open`: opens URLs with the handlers of their schemes.
struct OpenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Open a URL with the handler of its scheme.",
        discussion: """
            Example: waft open photo:album/7

            http, https, mailto, tel, sms and file go to the desktop, by xdg-open. For all others the handlers of the scheme \
            are asked, in the order that waft handlers test URL shows, until one says yes. Exit code 16 when none does, 13 \
            when there is none. The facts of --annotation are in the document of a handler, and in WAFT_ANNOTATION of other \
            programs.
            """
    )

    @Argument(help: ArgumentHelp("URLs.", valueName: "url"))
    var urls: [String]

    @OptionGroup var annotations: AnnotationOptions

    @OptionGroup var output: OutputOptions

    func run() async throws {
        // All URLs are checked before the first is opened.
        let urls = try await CommandError.catching { () throws(WaftError) in try self.urls.map(LinkOpening.parts) }
        let waft = try CommandContext().waft
        let annotation = try annotations.read()
        let opening = try await CommandError.catching { () throws(WaftError) in try waft.linkOpening(annotation) }
        let cancellation = Cancellation()
        let exits = try await Interruption.watching(cancellation, goodbye: .zero) { [output] in
            var exits: [WaftExit] = []
            for url in urls where !cancellation.isRequested {
                guard let outcome = try? await opening.open(url) else { break }
                exits.append(output.show(outcome))
            }
            return exits
        }
        let exit = cancellation.isRequested ? .interrupted : exits.first { $0 != .done } ?? .done
        if exit != .done { throw exit.code }
    }
}

extension OutputOptions {
    fileprivate func show(_ outcome: LinkOpening.Outcome) -> WaftExit {
        switch outcome {
        case .opened(let line):
            show(line)
            return line.exit
        case .failed(let line):
            fail(line)
            return line.exit
        }
    }
}

extension LinkOpenedLine: WordedLine {
    var words: [String] {
        ["\(TerminalText.escaped(url, limit: 400)): opened by \(TerminalText.escaped(attempts.last?.name ?? ""))"]
    }
}

extension LinkFailedLine: WordedLine {
    /// Lines of a handler's output that are shown.
    private static let shownLines = 10

    var words: [String] {
        let printed = attempts.last?.output?.split(whereSeparator: \.isNewline) ?? []
        let details = printed.suffix(Self.shownLines).map { TerminalText.escaped(String($0)) }
        return ["waft: \(TerminalText.escaped(url, limit: 400)): \(reason)"]
            + (details + [hint].compactMap(\.self)).map { "  \($0)" }
    }
}

/// Options of the verbs that give an annotation to a program.
struct AnnotationOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "A fact for the program that opens it: a key and its value, at most 16 KiB in all. Repeatable.",
            valueName: "key=value"))
    var annotation: [String] = []

    func read() throws(CommandError) -> Annotation { try Annotation(words: annotation) }
}

extension Annotation {
    /// - Parameter words: `KEY=VALUE` each.
    /// - Throws: `CommandError` `usage` for an empty key, one that is given twice, or too much in all.
    init(words: [String]) throws(CommandError) {
        var values: [String: String] = [:]
        for word in words {
            guard let sign = word.firstIndex(of: "="), sign > word.startIndex else {
                throw CommandError(.usage, "--annotation \(TerminalText.escaped(word)): it is not KEY=VALUE")
            }
            let key = String(word[..<sign])
            guard values.updateValue(String(word[word.index(after: sign)...]), forKey: key) == nil else {
                throw CommandError(.usage, "--annotation \(TerminalText.escaped(key)) is given twice")
            }
        }
        guard Self.bytes(of: values) <= Limits.annotationBytes else {
            throw CommandError(.usage, "the annotations are longer than \(Limits.annotationBytes) bytes in all")
        }
        self.init(values)
    }
}
