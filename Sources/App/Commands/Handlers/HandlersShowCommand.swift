import ArgumentParser
import HandlerCatalog

/// `waft handlers show`.
struct HandlersShowCommand: HandlersVerb {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show everything about a handler.",
        discussion: "Example: waft handlers show Photos"
    )

    @Argument(help: ArgumentHelp("The handler's name or identifier.", valueName: "handler"), completion: .handlers)
    var name: String

    @OptionGroup var output: OutputOptions

    var isReading: Bool { true }

    func report(on place: HandlersPlace) throws(CommandError) -> HandlersReport {
        let text = HandlerText(place)
        do throws(CatalogError) {
            let bundle = try text.snapshot.bundle(named: name)
            return HandlersReport(
                results: output.json ? [EventLine.handler(text.fields(bundle)).text] : text.description(of: bundle))
        } catch {
            // For a handler that cannot be used, only the reason is shown.
            let problems = text.loose.filter { $0.severity == .unusable && $0.isMeant(by: name) }
            guard error.code == .unknownHandler, !problems.isEmpty else { throw CommandError(error) }
            return HandlersReport(
                results: output.json
                    ? problems.map { EventLine.problem(text.fields($0)).text } : problems.flatMap(text.block))
        }
    }
}

extension HandlerProblem {
    /// Whether `text` can mean the handler that has the problem.
    fileprivate func isMeant(by text: String) -> Bool {
        let text = text.lowercased()
        return [name.lowercased(), name.lowercased() + ".handler", identifier?.text.lowercased()].contains(text)
    }
}
