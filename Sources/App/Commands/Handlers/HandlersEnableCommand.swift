import ArgumentParser
import HandlerCatalog
import Handlers
import UniformTypes

/// `waft handlers enable`.
struct HandlersEnableCommand: HandlersVerb {
    static let configuration = CommandConfiguration(
        commandName: "enable",
        abstract: "Enable a disabled handler.",
        discussion: "Example: waft handlers enable Photos"
    )

    @Argument(help: ArgumentHelp("The handler's name or identifier.", valueName: "handler"), completion: .handlers)
    var name: String

    @OptionGroup var output: OutputOptions

    func report(on place: HandlersPlace) throws(CommandError) -> HandlersReport {
        let bundle = try CommandError.catching { () throws(CatalogError) in try place.catalog.enable(name) }
        return HandlerText(place).changed(bundle, output, "\(HandlerText.escaped(bundle.name)) is enabled")
    }
}
