import ArgumentParser
import ContentCheck
import Endpoints
import Foundation
import HandlerCatalog
import ItemSources
import Lines
import Settings
import Sharing
import UniformTypes

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

    struct Fields: Encodable {
        var path: String
        var type: String
        var description: String?
        var conformsTo: [String]
        /// The result of reading the content: `consistent`, `unverified`, `mislabelled`, `lying`; absent for folders.
        var content: String?
        var contentType: String?
        var contentExplanation: String?
        /// Names in the themes of desktops.
        var icon: String?
        var genericIcon: String?
        /// The absolute path of a picture of a handler.
        var iconFile: String?
    }

    private struct Finding {
        var verdict: ContentVerdict
        var words: String
    }

    func run() async throws {
        var exit = WaftExit.done
        let snapshot = HandlersPlace(try CommandContext.forgiving).catalog.load()
        let registry = snapshot.registry
        let checker = ContentChecker(types: registry)
        for file in files {
            do throws(SourceError) {
                let (type, kind) = try ItemSources.look(at: file, registry: registry)
                let finding = kind == .regularFile ? Self.look(into: file, type, checker) : nil
                // The content of a file decides.
                let isBelieved = [.mislabelled, .lying].contains(finding?.verdict.outcome) == false
                let shown = isBelieved ? type : finding?.verdict.contentType ?? type
                print(type, in: registry, of: file, finding, DocumentIcon(shown, kind: kind, in: snapshot))
            } catch {
                if exit == .done { exit = WaftExit(error) }
                guard output.json else {
                    Console.shared.note("waft: \(TerminalText.escaped(error.message))")
                    continue
                }
                EventLine(CommandError(error), of: .path(file)).print()
            }
        }
        if exit != .done { throw exit.code }
    }

    private static func look(into path: String, _ declared: UniformType, _ checker: ContentChecker) -> Finding? {
        let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { return nil }
        let size = UInt64(max(0, status.st_size))
        return Finding(
            verdict: checker.check(descriptor: file, declared: declared, size: size),
            words: checker.description(descriptor: file, size: size)
        )
    }

    private func print(
        _ type: UniformType, in registry: TypeRegistry, of file: String, _ finding: Finding?, _ icon: DocumentIcon
    ) {
        let fields = Fields(
            path: file,
            type: type.identifier,
            description: registry.description(of: type),
            conformsTo: registry.supertypes(of: type).map(\.type.identifier),
            content: finding?.verdict.outcome.rawValue,
            contentType: finding?.verdict.contentType?.identifier,
            contentExplanation: finding?.verdict.explanation,
            icon: icon.name,
            genericIcon: icon.genericName,
            iconFile: icon.file
        )
        if output.json { return EventLine.type(fields).print() }
        let description = fields.description.map { " (\(TerminalText.escaped($0)))" } ?? ""
        Console.shared.result("\(TerminalText.escaped(file)): \(fields.type)\(description)")
        if !fields.conformsTo.isEmpty {
            Console.shared.result("  conforms to \(fields.conformsTo.joined(separator: ", "))")
        }
        if let finding {
            let words = ContentWords.line(declared: type, finding.words, finding.verdict, registry)
            Console.shared.result("  \(words)")
        }
        Console.shared.result("  icon \(icon.words)")
    }
}
