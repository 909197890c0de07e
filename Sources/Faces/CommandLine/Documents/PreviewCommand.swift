import ArgumentParser
import Glibc
import Lines
import Operations
import SystemCalls

/// Options of the verbs that show previews.
struct PreviewOptions: ParsableArguments {
    @Option(
        name: .long, help: ArgumentHelp("Lines of a text that are shown, at most 10000.", valueName: "count"))
    var lines = ShownLines.standard

    @Flag(name: .long, help: "Show it in a window of the desktop, by GNOME's previewer or the default application.")
    var window = false

    @Option(
        name: .long,
        help: ArgumentHelp("New file for a picture of it; none is replaced. - is standard output.", valueName: "path"),
        completion: .file())
    var out: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Width and height of that picture, at most (default: 1024).", valueName: "count"))
    var pixels: Int?

    @Option(
        name: .long, help: ArgumentHelp("Page of a PDF document for that picture (default: 1).", valueName: "number"))
    var page: Int?

    private static let pixelRange = 16...4_096
    private static let pageRange = 1...100_000

    func validate() throws {
        guard (1...ShownLines.maximum).contains(lines) else {
            throw ValidationError("--lines takes a number from 1 to \(ShownLines.maximum).")
        }
        for (name, value, range) in [("pixels", pixels, Self.pixelRange), ("page", page, Self.pageRange)] {
            guard let value else { continue }
            guard out != nil else { throw ValidationError("--\(name) is for a picture: give --out too.") }
            guard range.contains(value) else {
                throw ValidationError("--\(name) takes a number from \(range.lowerBound) to \(range.upperBound).")
            }
        }
        if out != nil, window { throw ValidationError("--out and --window exclude each other.") }
    }

    /// - Throws: `CommandError` `usage` if standard output is wanted for a picture and for `--json`, or is a terminal.
    func check(_ output: OutputOptions) throws(CommandError) {
        guard out == "-" else { return }
        if output.json {
            throw CommandError(.usage, "--out - and --json both write to standard output", hint: "give a new file")
        }
        if isatty(STDOUT_FILENO) != 0 {
            throw CommandError(.usage, "standard output is a terminal", hint: "give a new file, or a pipe")
        }
    }

    /// Shows a document, or writes the picture of it.
    func show(_ document: Document, _ documents: Documents, _ output: OutputOptions) async throws(CommandError) {
        if !window, out == nil { return try await documents.show(document, lines: lines, output) }
        try await CommandError.catching { () throws(WaftError) in
            guard let out else { return output.show(try await documents.showInWindow(document)) }
            let picture = try await documents.picture(of: document, pixels: pixels ?? 1_024, page: page ?? 1)
            guard out == "-" else { return output.show(try picture.save(to: out)) }
            do throws(SystemError) {
                try SmallFile.write(picture.bytes, to: STDOUT_FILENO)
            } catch {
                throw WaftError(.unexpected, "the picture cannot be written (\(error))")
            }
        }
    }
}

/// `waft preview`: shows the beginning of files.
struct PreviewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "preview",
        abstract: "Show a part of a file in the terminal, by what its content is.",
        discussion: """
            Examples:
              waft preview notes.txt photo.jpg backup.tar.gz
              waft preview report.pdf --out page.jpg --page 2

            Shows the first lines of a text, the size of an image, the names in a folder or an archive, the parts of a URL, \
            and with pdfinfo and pdftotext the pages and the first page of a PDF document; with chafa also a picture. Nothing \
            is unpacked. A file that is not what its name says is shown as what it is. With --out a picture is made: by pdftocairo \
            of a page of a PDF document, by a thumbnailer of the system of all else. Exit code 13 if there is nothing to show.
            """
    )

    @Argument(help: ArgumentHelp("Files and folders.", valueName: "file"), completion: .file())
    var files: [String]

    @OptionGroup var options: PreviewOptions

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let documents = try CommandContext.forgiving.documents
        try options.check(output)
        guard options.out == nil || files.count == 1 else {
            throw CommandError(.usage, "--out takes one file, and \(files.count) are given")
        }
        var exit = WaftExit.done
        for file in files {
            do throws(CommandError) {
                let document = try await CommandError.catching { () throws(WaftError) in try documents.file(file) }
                try await options.show(document, documents, output)
            } catch {
                if exit == .done { exit = error.exit }
                output.fail(error, of: .path(file))
            }
        }
        if exit != .done { throw exit.code }
    }
}
