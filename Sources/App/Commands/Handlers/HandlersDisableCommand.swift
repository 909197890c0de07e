import ArgumentParser
import HandlerCatalog
import Handlers
import UniformTypes

/// `waft handlers disable`.
struct HandlersDisableCommand: HandlersVerb {
    static let configuration = CommandConfiguration(
        commandName: "disable",
        abstract: "Disable a handler without removing it.",
        discussion: "Example: waft handlers disable Photos"
    )

    @Argument(help: ArgumentHelp("The handler's name or identifier.", valueName: "handler"), completion: .handlers)
    var name: String

    @OptionGroup var output: OutputOptions

    func report(on place: HandlersPlace) throws(CommandError) -> HandlersReport {
        let bundle = try CommandError.catching { () throws(CatalogError) in try place.catalog.disable(name) }
        return HandlerText(place).changed(
            bundle, output, "\(HandlerText.escaped(bundle.name)) is disabled: it gets no items and no URLs")
    }
}
