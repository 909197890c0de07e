import ArgumentParser
import Control
import Endpoints
import HandlerCatalog
import HookSandbox
import Lines
import Settings

extension CommandError {
    /// - Parameters:
    ///   - place: the option with the value; escaped, as the hint is.
    init(_ error: CatalogError, at place: String? = nil, hint: String? = nil) {
        let exit: WaftExit =
            switch error.code {
            case .ambiguousName, .unfit, .nameTaken, .notYours: .usage
            case .unknownHandler, .missingProgram: .inputMissing
            case .storage: .unexpected
            }
        let hint = hint ?? (error.code == .unknownHandler ? "see: waft handlers" : nil)
        let message = TerminalText.escaped(error.description, limit: 1_000)
        self.init(exit, place.map { "\($0): \(message)" } ?? message, hint: hint)
    }

    /// Does something with the catalog.
    static func catching<Result>(
        hint: String? = nil,
        _ body: () throws(CatalogError) -> Result
    ) throws(CommandError) -> Result {
        do throws(CatalogError) {
            return try body()
        } catch {
            throw CommandError(error, hint: hint)
        }
    }
}
