import ArgumentParser
import Contacts
import Settings
import Sharing

/// `waft contacts forget`.
struct ContactsForgetCommand: ContactsVerb {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Remove a contact. A blocked peer stays blocked.",
        discussion: "Example: waft contacts forget kitchen"
    )

    @Argument(
        help: ArgumentHelp("The contact's name, or the beginning of its key id.", valueName: "contact"),
        completion: .contacts)
    var name: String

    @OptionGroup var output: OutputOptions

    func report(on place: ContactsPlace) throws(CommandError) -> VerbReport {
        let contact = try CommandError.catching { () throws(ContactError) in
            try place.book.forget(name, at: place.now())
        }
        let event = EventLine.forgotten(StandingFields(contact.id, contact, isBlocked: contact.isBlocked))
        let rest = contact.isBlocked ? "; its key is still blocked" : ""
        let line = "forgot \(TerminalText.escaped(contact.name.text)) (\(contact.id.short))\(rest)"
        return VerbReport(results: [output.json ? event.text : line], isChange: true)
    }
}
