import ArgumentParser
import Desk
import Foundation
import Lines
import Operations
import Settings
import Sharing

/// `waft desk`: Waft in a window.
struct DeskCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "desk",
        abstract: "Open Waft in a window of the browser.",
        discussion: """
            Examples: waft desk; waft desk photo.jpg

            Shows the machines nearby, asks about what is offered to you, sends what you drop on a machine, and lists what has \
            arrived. It runs the other commands for the window, on a port of this machine that only this window knows, and \
            ends three minutes after the last window was closed, or at Ctrl-C.
            """
    )

    @Argument(help: ArgumentHelp("Files and folders to share.", valueName: "file"), completion: .file())
    var files: [String] = []

    @Flag(name: .customLong("no-open"), help: "Open no window, and print its address: it is good for one use.")
    var noOpen = false

    @OptionGroup var output: OutputOptions

    func run() async throws { try await Self.open(files, noOpen: noOpen, json: output.json) }

    /// Serves a window until it was closed for a while.
    static func open(_ files: [String], noOpen: Bool = false, json: Bool = false) async throws {
        guard !files.contains("-") else {
            throw CommandError(
                .usage, "the desk takes files and folders, and not standard input",
                hint: "to send it: waft send - --to PEER")
        }
        let context = try CommandContext.forgiving
        if !files.isEmpty { _ = try CommandError.of { () throws(WaftError) in try SendSources(paths: files).make() } }
        let listener: DeskListener
        do {
            try context.home.makeFolders()
            listener = try await DeskListener.bind(
                program: DeskProgram(path: try OwnPrograms.running()), name: context.settings.name,
                version: Version.text, shared: files.map(whole),
                types: context.home.typeRegistry, run: context.home.run,
                logger: context.logger("waft"))
        } catch let error as CommandError {
            throw error
        } catch {
            throw CommandError(
                .unexpected, "the desk cannot be opened: \(TerminalText.escaped("\(error)", limit: 400))")
        }
        let end = Cancellation()
        do {
            try await Interruption.watching(end, goodbye: .zero) {
                async let running: Void = listener.run()
                let url = noOpen ? listener.makeAddress() : nil
                if json {
                    OutputOptions(json: true).show(WindowLine(port: listener.port, url: url), as: [])
                } else if let url {
                    Console.shared.result(url)
                }
                if !noOpen { try await DeskOpening.open(try listener.makeDoorFile()) }
                await running
            }
        } catch is CancellationError {
            // Ctrl-C is the normal end.
        } catch {
            guard end.isRequested else { throw error }
        }
    }

    /// The absolute path, without `.` in it: people read it.
    private static func whole(_ path: String) -> String {
        "/" + PathText.absolute(path).split(separator: "/").filter { $0 != "." }.joined(separator: "/")
    }
}
