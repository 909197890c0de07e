import ArgumentParser
import Contacts
import Sharing

/// `waft contacts show`.
struct ContactsShowCommand: ContactsVerb {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show everything about a contact.",
        discussion: "Example: waft contacts show kitchen"
    )

    @Argument(
        help: ArgumentHelp("The contact's name, or the beginning of its key id.", valueName: "contact"),
        completion: .contacts)
    var name: String

    @OptionGroup var output: OutputOptions

    func report(on place: ContactsPlace) throws(CommandError) -> VerbReport {
        let snapshot = try place.snapshot()
        let contact = try CommandError.catching { () throws(ContactError) in try snapshot.find(name) }
        return VerbReport(
            results: output.json
                ? [EventLine.contact(ContactFields(contact)).text] : ContactText(place).description(of: contact))
    }
}
