import ArgumentParser
import Lines
import Operations

/// `waft type`: shows the type with which a file would be offered.
struct TypeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "type",
        abstract: "Show the type of a file, by its name and by its content.",
        discussion: """
            Example: waft type report.pdf

            For a folder, only its own type is shown. Handlers can declare types too.
            """
    )

    @Argument(help: ArgumentHelp("Files and folders.", valueName: "file"), completion: .file())
    var files: [String]

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let types = try CommandContext.forgiving.waft.types()
        try await output.each(files, called: { .path($0) }) { file, _ throws(WaftError) in try types.type(of: file) }
    }
}

extension TypeLine: WordedLine {
    var words: [String] {
        let description = description.map { " (\(TerminalText.escaped($0)))" } ?? ""
        let icons = [icon, genericIcon, iconFile].compactMap { $0.map { TerminalText.escaped($0, limit: 4_096) } }
        return ["\(TerminalText.escaped(path)): \(type)\(description)"]
            + (conformsTo.isEmpty ? [] : ["  conforms to \(conformsTo.joined(separator: ", "))"])
            + [contentWords].compactMap { $0.map { "  \($0)" } } + ["  icon \(icons.joined(separator: ", "))"]
    }
}
