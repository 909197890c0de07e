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
            arrived. It serves the window on a port of this machine that only this window knows, and ends three minutes \
            after the last window was closed, or at Ctrl-C.
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
                program: OwnProgram(path: try OwnPrograms.running()), strict: { () throws(WaftError) in try waft() },
                forgiving: { () throws(WaftError) in try waft(isForgiving: true) },
                settings: { $0.config.list(all: true, rule: \.text) }, name: context.settings.name,
                version: Version.text, shared: files.map(whole), types: context.home.typeRegistry,
                run: context.home.run, logger: context.logger("waft"))
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

    /// Where they are not forgiven, settings with faults send nothing and call no handler: it may have to have a sandbox.
    private static func waft(isForgiving: Bool = false) throws(WaftError) -> Waft {
        do throws(CommandError) {
            return try CommandContext(isForgiving: isForgiving).waft
        } catch {
            throw WaftError(error.exit, error.message, hint: error.hint, others: error.others)
        }
    }

    /// The absolute path, without `.` in it: people read it.
    private static func whole(_ path: String) -> String {
        "/" + PathText.absolute(path).split(separator: "/").filter { $0 != "." }.joined(separator: "/")
    }
}

/// Opens a window of the desk in the user's browser.
enum DeskOpening {
    /// Browsers of Chromium's family, by their desktop entries. They give a page a window of its own.
    private static let families = [
        "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "brave-browser", "microsoft-edge",
        "vivaldi-stable", "opera",
    ]

    /// - Parameter page: a private file that leads to the desk.
    /// - Throws: `CommandError`.
    static func open(_ page: String) async throws(CommandError) {
        do throws(WaftError) {
            if let browser = await standardBrowser() {
                let address = URL(fileURLWithPath: page).absoluteString
                return try await browser.handOver(["--app=\(address)"])
            }
            guard let opener = SystemProgram("xdg-open") else {
                throw WaftError(.inputMissing, "no program opens windows here: xdg-open is not installed")
            }
            try await opener.handOver([page])
        } catch {
            throw CommandError(
                WaftError(error.code, error.reason, hint: "waft desk --no-open prints the address for a browser"))
        }
    }

    /// The user's browser if it is one of Chromium's family.
    private static func standardBrowser() async -> SystemProgram? {
        guard let settings = SystemProgram("xdg-settings"),
            let entry = try? await settings.end(["get", "default-web-browser"]), entry.code == 0
        else { return nil }
        let name = entry.output.trimmingCharacters(in: .whitespacesAndNewlines).replacing(".desktop", with: "")
        return families.contains(name) ? SystemProgram(name) : nil
    }
}
