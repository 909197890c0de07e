import ArgumentParser
import HandlerCatalog

/// `waft handlers list`.
struct HandlersListCommand: HandlersVerb {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List handlers, the types that they open, and their problems.",
        discussion: "Example: waft handlers list --json"
    )

    @OptionGroup var output: OutputOptions

    var isReading: Bool { true }

    func report(on place: HandlersPlace) -> HandlersReport {
        let text = HandlerText(place)
        var report = HandlersReport()
        if output.json {
            report.results += text.snapshot.handlers.map { EventLine.handler(text.fields($0)).text }
            report.results += text.loose.map { EventLine.problem(text.fields($0)).text }
        } else {
            report.results += text.snapshot.handlers.flatMap(text.block) + text.loose.flatMap(text.block)
            if text.snapshot.bundles.isEmpty, text.loose.isEmpty {
                report.notes.append(
                    "no handler is installed; add one with: waft handlers add --name NAME --type TYPE --run PROGRAM")
            }
        }
        return report
    }
}
