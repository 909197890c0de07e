import ArgumentParser
import HandlerCatalog
import UniformTypes

/// `waft handlers remove`.
struct HandlersRemoveCommand: HandlersVerb {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove one of your own handlers, a broken one too.",
        discussion: "Example: waft handlers remove Photos"
    )

    private struct Line: Encodable {
        var v = 1
        var kind = "removed"
        var path: String
        var forgottenTypes: [String]
        var forgottenSchemes: [String]
    }

    @Argument(help: "The handler's name or identifier.")
    var name: String

    @OptionGroup var output: OutputOptions

    func report(on place: HandlersPlace) throws(CommandFailure) -> HandlersReport {
        let before = place.catalog.load()
        let path: String
        do throws(CatalogError) {
            path = try place.catalog.remove(name)
        } catch {
            // What others installed can be left alone.
            let bundle = try? before.bundle(named: name)
            let canBeDisabled = error.code == .notYours && bundle.map { $0.origin < .configuration } == true
            throw CommandFailure(
                error, hint: canBeDisabled ? "waft handlers disable \(HandlerText.word(name))" : nil)
        }
        let after = place.catalog.load().choices
        let types = before.choices.typeDefaults.keys.filter { after.typeDefaults[$0] == nil }.map(\.identifier).sorted()
        let schemes = before.choices.schemeDefaults.keys.filter { after.schemeDefaults[$0] == nil }.sorted()
        if output.json {
            let line = Line(path: path, forgottenTypes: types, forgottenSchemes: schemes.map(\.text))
            return HandlersReport(results: [JSONText.line(line)])
        }
        let forgotten = types + schemes.map { "\($0):" }
        var report = HandlersReport(results: ["removed \(HandlerText.path(path))"])
        if !forgotten.isEmpty {
            report.results.append("  it was your default for \(forgotten.joined(separator: ", "))")
        }
        return report
    }
}

/// `waft handlers enable`.
struct HandlersEnableCommand: HandlersVerb {
    static let configuration = CommandConfiguration(
        commandName: "enable",
        abstract: "Use a handler again that was disabled.",
        discussion: "Example: waft handlers enable Photos"
    )

    @Argument(help: "The handler's name or identifier.")
    var name: String

    @OptionGroup var output: OutputOptions

    func report(on place: HandlersPlace) throws(CommandFailure) -> HandlersReport {
        let bundle = try CommandFailure.catching { () throws(CatalogError) in try place.catalog.enable(name) }
        return HandlerText(place).changed(bundle, output, "\(HandlerText.escaped(bundle.name)) is enabled")
    }
}

/// `waft handlers disable`.
struct HandlersDisableCommand: HandlersVerb {
    static let configuration = CommandConfiguration(
        commandName: "disable",
        abstract: "Stop using a handler, and leave it installed.",
        discussion: "Example: waft handlers disable Photos"
    )

    @Argument(help: "The handler's name or identifier.")
    var name: String

    @OptionGroup var output: OutputOptions

    func report(on place: HandlersPlace) throws(CommandFailure) -> HandlersReport {
        let bundle = try CommandFailure.catching { () throws(CatalogError) in try place.catalog.disable(name) }
        return HandlerText(place).changed(
            bundle, output, "\(HandlerText.escaped(bundle.name)) is disabled: it is asked about nothing")
    }
}

extension HandlerText {
    fileprivate func changed(_ bundle: HandlerBundle, _ output: OutputOptions, _ words: String) -> HandlersReport {
        HandlersReport(results: [output.json ? JSONText.line(document(bundle)) : words])
    }
}
