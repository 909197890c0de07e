import ArgumentParser
import HandlerCatalog
import Handlers
import Lines
import UniformTypes

/// `waft handlers remove`.
struct HandlersRemoveCommand: HandlersVerb {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove one of your own handlers, even a broken one.",
        discussion: """
            Example: waft handlers remove Photos

            The data folder of the handler and its settings are kept for a handler that you install in its place; --data \
            removes them too.
            """
    )

    struct Fields: Encodable {
        var path: String
        /// The handler's data folder; absent if there is none.
        var dataFolder: String?
        var isDataRemoved: Bool
        var forgottenTypes: [String]
        var forgottenSchemes: [String]
    }

    @Argument(help: ArgumentHelp("The handler's name or identifier.", valueName: "handler"), completion: .handlers)
    var name: String

    @Flag(name: .long, help: "Remove its data folder and its settings, too.")
    var data = false

    @OptionGroup var output: OutputOptions

    func report(on place: HandlersPlace) throws(CommandError) -> HandlersReport {
        let before = place.catalog.load()
        let removal: HandlerCatalog.Removal
        do throws(CatalogError) {
            removal = try place.catalog.remove(name)
        } catch {
            // Handlers that other users installed can be disabled.
            let bundle = try? before.bundle(named: name)
            let canBeDisabled = error.code == .notYours && bundle.map { $0.origin < .configuration } == true
            throw CommandError(
                error, hint: canBeDisabled ? "waft handlers disable \(TerminalText.shellWord(name))" : nil)
        }
        if data, let folder = removal.dataFolder { try Self.removeData(folder) }
        if data, let identifier = removal.identifier {
            try CommandError.catching { () throws(CatalogError) in
                _ = try place.catalog.removeSettings(of: identifier)
            }
        }
        let after = place.catalog.load().choices
        let types = before.choices.typeDefaults.keys.filter { after.typeDefaults[$0] == nil }.map(\.identifier).sorted()
        let schemes = before.choices.schemeDefaults.keys.filter { after.schemeDefaults[$0] == nil }.sorted()
        if output.json {
            let fields = Fields(
                path: removal.path, dataFolder: removal.dataFolder, isDataRemoved: data && removal.dataFolder != nil,
                forgottenTypes: types, forgottenSchemes: schemes.map(\.text))
            return HandlersReport(results: [EventLine.handlerRemoved(fields).text], isChange: true)
        }
        let forgotten = types + schemes.map { "\($0):" }
        var report = HandlersReport(results: ["removed \(HandlerText.path(removal.path))"], isChange: true)
        if let folder = removal.dataFolder {
            let path = HandlerText.path(folder)
            report.results.append(
                data ? "  removed its data folder \(path)" : "  kept its data folder \(path)")
        }
        if !forgotten.isEmpty {
            report.results.append("  it was your default for \(forgotten.joined(separator: ", "))")
        }
        return report
    }

    private static func removeData(_ folder: String) throws(CommandError) {
        do {
            try DataFolder.remove(folder)
        } catch {
            throw CommandError(
                .unexpected, "the handler is removed, but not its data folder \(HandlerText.path(folder)): \(error)")
        }
    }
}
