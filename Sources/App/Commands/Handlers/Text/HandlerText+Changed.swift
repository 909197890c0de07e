import ArgumentParser
import HandlerCatalog
import Handlers
import UniformTypes

extension HandlerText {
    /// The report after a change of a handler.
    func changed(_ bundle: HandlerBundle, _ output: OutputOptions, _ words: String) -> HandlersReport {
        HandlersReport(results: [output.json ? EventLine.handler(fields(bundle)).text : words], isChange: true)
    }
}
