import ArgumentParser
import Contacts
import Control
import Endpoints
import HandlerCatalog
import Journal
import Lines
import Settings
import Sharing
import UniformTypes

extension CommandError {
    /// - Parameters:
    ///   - place: where it stands, for the beginning of the line; escaped, as the hint is.
    init(_ error: ContactError, at place: String? = nil, hint: String? = nil) {
        let exit: WaftExit =
            switch error.code {
            case .unknownContact: .inputMissing
            case .ambiguous, .unfit, .nameTaken, .blocked: .usage
            case .full, .damaged, .storage: .unexpected
            }
        let hint = hint ?? (error.code == .unknownContact ? "see: waft contacts" : nil)
        let message = TerminalText.escaped(error.description, limit: 1_000)
        self.init(exit, place.map { "\($0): \(message)" } ?? message, hint: hint)
    }

    /// Does something with contacts, visibility or rules.
    static func catching<Result>(
        hint: String? = nil,
        _ body: () throws(ContactError) -> Result
    ) throws(CommandError) -> Result {
        do throws(ContactError) {
            return try body()
        } catch {
            throw CommandError(error, hint: hint)
        }
    }

    /// The name that a user gives a contact.
    static func contactName(_ text: String) throws(CommandError) -> ContactName {
        guard !text.hasSuffix(Glyph.check), !text.hasSuffix("✓") else {
            throw CommandError(
                .usage,
                "\"\(TerminalText.escaped(text, limit: 80))\" cannot be the name of a contact: ✓ behind a name is the "
                    + "mark of contacts")
        }
        return try catching { () throws(ContactError) in try ContactName(text) }
    }
}
