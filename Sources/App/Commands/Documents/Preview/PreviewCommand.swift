import ArgumentParser
import Previews

/// Options of the verbs that show previews.
struct PreviewOptions: ParsableArguments {
    @Option(
        name: .long, help: ArgumentHelp("Lines of a text that are shown, at most 10000.", valueName: "count"))
    var lines = PreviewBounds.lines

    @Flag(name: .long, help: "Show it in a window of the desktop, by GNOME's previewer or the default application.")
    var window = false

    func validate() throws {
        guard (1...PreviewBounds.maximumLines).contains(lines) else {
            throw ValidationError("--lines takes a number from 1 to \(PreviewBounds.maximumLines).")
        }
    }
}

/// `waft preview`: shows the beginning of files.
struct PreviewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "preview",
        abstract: "Show a part of a file in the terminal, by what its content is.",
        discussion: """
            Example: waft preview notes.txt photo.jpg backup.tar.gz

            Shows the first lines of a text, the size of an image, the names in a folder or an archive, the parts of a URL, \
            and with pdfinfo and pdftotext the pages and the first page of a PDF document; with chafa also a picture. Nothing \
            is unpacked. A file that is not what its name says is shown as what it is. Exit code 13 if there is nothing to show.
            """
    )

    @Argument(help: ArgumentHelp("Files and folders.", valueName: "file"), completion: .file())
    var files: [String]

    @OptionGroup var options: PreviewOptions

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let context = try CommandContext(isForgiving: true)
        let previewing = Previewing(context, lines: options.lines, json: output.json)
        var exit = WaftExit.done
        for file in files {
            do {
                let subject = try DocumentSubject(path: file, previewing.registry)
                if options.window {
                    try await PreviewWindow(context, json: output.json).show(subject)
                } else {
                    try await previewing.show(subject)
                }
            } catch let error as CommandError {
                if exit == .done { exit = error.exit }
                if output.json {
                    EventLine(error, of: .path(file)).print()
                } else {
                    Console.shared.note("waft: \(error)")
                }
            }
        }
        if exit != .done { throw exit.code }
    }
}
