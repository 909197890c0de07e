import ArgumentParser
import HandlerCatalog
import Settings

/// `waft handlers settings`.
struct HandlersSettingsCommand: HandlersVerb {
    static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "Show and change the settings of a handler.",
        discussion: """
            Example: waft handlers settings Photos quality 0.5

            Lists the settings, prints the value of one, or sets it. They are those of the handler's Settings.bundle; a \
            running receiver uses a change as soon as the command returns. A value that begins with a hyphen needs two \
            hyphens before it: waft handlers settings Photos offset -- -5
            """
    )

    @Argument(help: ArgumentHelp("The handler's name or identifier.", valueName: "handler"), completion: .handlers)
    var name: String

    @Argument(help: ArgumentHelp("The setting.", valueName: "key"), completion: .handlerSettings)
    var key: String?

    @Argument(help: ArgumentHelp("The new value.", valueName: "value"), completion: .handlerSettingValues)
    var value: String?

    @Flag(name: .long, help: "Return to the default.")
    var unset = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if unset, key == nil || value != nil { throw ValidationError("--unset needs a key, and no value") }
    }

    func report(on place: HandlersPlace) throws(CommandError) -> HandlersReport {
        let snapshot = place.catalog.load()
        let bundle = try CommandError.catching { () throws(CatalogError) in try snapshot.bundle(named: name) }
        let text = HandlerSettingText(bundle, path: place.catalog.settingsPath(of: bundle.identifier))
        guard let key else { return text.list(json: output.json) }
        let setting = try text.setting(named: key)
        guard unset || value != nil else { return text.report(of: setting, json: output.json) }
        let new = try value.map { value throws(CommandError) in try text.value(typed: value, for: setting) }
        try CommandError.catching { () throws(CatalogError) in
            try place.catalog.set(setting, of: bundle.identifier, to: new)
        }
        return text.change(of: setting, to: new, json: output.json)
    }
}
