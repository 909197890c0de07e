import ArgumentParser
import Desk
import Endpoints
import Foundation
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

    func run() async throws {
        let context = try CommandContext(isForgiving: true)
        if !files.isEmpty { _ = try SendSources(paths: files, texts: [], urls: [], peers: 1).make() }
        let listener: DeskListener
        do {
            try context.home.makeFolders()
            listener = try await DeskListener.bind(
                program: DeskProgram(path: try OwnPrograms.running()), name: context.settings.name,
                version: Version.text, shared: files.map { PathText.absolute($0) }, run: context.home.run,
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
                if noOpen { Console.shared.result(listener.makeAddress()) } else { try await open(listener) }
                await running
            }
        } catch is CancellationError {
            // Ctrl-C is the normal end.
        } catch {
            guard end.isRequested else { throw error }
        }
    }

    private func open(_ listener: DeskListener) async throws {
        let path = try listener.makeDoorFile()
        guard let opener = SystemProgram("xdg-open") else {
            throw CommandError(
                .inputMissing, "no program opens windows here: xdg-open is not installed",
                hint: "waft desk --no-open prints the address for a browser")
        }
        let opened = try await opener.end([path])
        guard opened.code == 0 else {
            throw CommandError(
                .unexpected, "xdg-open could not open a window",
                hint: "waft desk --no-open prints the address for a browser")
        }
    }
}
