import ArgumentParser
import ContentCheck
import Foundation
import HandlerCatalog
import Lines
import Sharing
import UniformTypes

/// `waft handlers test`.
struct HandlersTestCommand: HandlersVerb {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Show which handler would get a file, a folder, a type or a URL, and why. No handler is started.",
        discussion: """
            Example: waft handlers test photo.jpg, or: waft handlers test --type com.adobe.pdf, or: waft handlers test foo:bar

            Handlers are asked in this order: your default; the one that opens the type itself; fewer steps of conformance; \
            rank (Owner, Default, Alternate); role (Editor, Viewer, Shell); the one installed first; identifier.
            """
    )

    @Argument(help: ArgumentHelp("Files, folders and URLs.", valueName: "file|url"), completion: .file())
    var items: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp("Type to assume for the files; without files, the type to test.", valueName: "uti"),
        completion: .types)
    var type: String?

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if items.isEmpty, type == nil { throw ValidationError("a file, a folder, a URL or --type is needed") }
    }

    var isReading: Bool { true }

    func report(on place: HandlersPlace) throws(CommandError) -> HandlersReport {
        let text = HandlerText(place)
        let declared = try CommandError.catching { () throws(CatalogError) in
            try type.map { name throws(CatalogError) in try text.snapshot.registry.type(named: name) }
        }
        var report = HandlersReport()
        if items.isEmpty, let declared {
            report.add(ItemDecision(type: declared, in: text.snapshot), text, output)
        }
        let checker = ContentChecker(types: text.snapshot.registry)
        for item in items {
            do throws(CommandError) {
                if declared == nil, let url = try Self.url(item) {
                    report.add(SchemeChoice(url, in: text.snapshot), text, output)
                } else {
                    report.add(try ItemDecision(path: item, as: declared, in: text.snapshot, checker), text, output)
                }
            } catch {
                if report.exit == .done { report.exit = error.exit }
                guard output.json else {
                    report.notes.append("waft: \(error.message)")
                    if let hint = error.hint { report.notes.append("  \(hint)") }
                    continue
                }
                report.results.append(EventLine(error, of: .path(item)).text)
            }
        }
        return report
    }

    /// The URL in the argument; nil if the argument is a file, or looks like one.
    private static func url(_ text: String) throws(CommandError) -> URLParts? {
        var status = stat()
        guard lstat(text, &status) != 0, let colon = text.firstIndex(of: ":"),
            URLScheme(String(text[..<colon])) != nil
        else { return nil }
        do throws(URLPartsError) {
            return try URLParts(text)
        } catch {
            let shown = TerminalText.escaped(text)
            // `notes: monday.txt` is more likely a file that does not exist.
            guard text[colon...].hasPrefix("://") else {
                throw CommandError(.inputMissing, "\(shown): there is no such file, and as a URL: \(error)")
            }
            throw CommandError(.usage, "\(shown): \(error)")
        }
    }
}

extension HandlersReport {
    fileprivate mutating func add(_ decision: ItemDecision, _ text: HandlerText, _ output: OutputOptions) {
        results += output.json ? [EventLine.handlerDecision(text.fields(decision)).text] : text.lines(decision)
    }

    fileprivate mutating func add(_ choice: SchemeChoice, _ text: HandlerText, _ output: OutputOptions) {
        results += output.json ? [EventLine.schemeDecision(text.fields(choice)).text] : text.lines(choice)
    }
}
