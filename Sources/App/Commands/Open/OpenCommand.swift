import ArgumentParser
import Endpoints
import Foundation
import HandlerCatalog
import Handlers
import Lines
import Logging
import Settings
import Sharing
import SystemCalls

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
        let urls = try self.urls.map(Self.parts)
        let context = try CommandContext()
        var opening = try Self.opening(context)
        opening.annotation = try annotations.read()
        let (json, opener) = (output.json, opening)
        let cancellation = Cancellation()
        let exits = try await Interruption.watching(cancellation, goodbye: .zero) {
            var exits: [WaftExit] = []
            for url in urls where !cancellation.isRequested {
                do throws(CancellationError) {
                    let outcome = try await opener.open(url)
                    Self.show(outcome, json: json)
                    exits.append(outcome.exit)
                } catch {
                    break
                }
            }
            return exits
        }
        let exit = cancellation.isRequested ? .interrupted : exits.first { $0 != .done } ?? .done
        if exit != .done { throw exit.code }
    }

    static func parts(_ text: String) throws(CommandError) -> URLParts {
        do throws(URLPartsError) {
            return try URLParts(text)
        } catch {
            let word = ShellWord.quoted(TerminalText.escaped(text))
            let hint =
                error == .noScheme ? "for a file: waft open-in \(word); for an item: waft inbox open \(word)" : nil
            throw CommandError(.usage, "\(TerminalText.escaped(text)): \(error)", hint: hint)
        }
    }

    /// Opens URLs and calls handlers without a receiver.
    static func opening(_ context: CommandContext) throws(CommandError) -> URLOpening {
        let settings = context.settings
        return URLOpening(
            snapshot: context.home.handlerCatalog(settings).load(),
            runner: try context.handlerRunner(),
            timeLimit: settings.hookTimeout,
            requiresSandbox: settings.requiresSandbox,
            opener: SystemOpener(inheritsAll: true)
        )
    }

    private static func show(_ outcome: URLResult, json: Bool) {
        if json { return outcome.event.print() }
        if outcome.exit == .done { return Console.shared.result(outcome.text) }
        Console.shared.note("waft: \(outcome.text)")
        for line in outcome.details { Console.shared.note("  \(line)") }
    }
}
