import ArgumentParser
import Contacts
import Settings
import Sharing

/// `waft contacts set`.
struct ContactsSetCommand: ContactsVerb {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Set what a contact may send, and where it goes.",
        discussion: """
            Example: waft contacts set kitchen --policy accept --types public.image --size-at-most 5GB

            Limits apply to acceptance without a question: you are asked about larger offers. Settings that you do not name do \
            not change.
            """
    )

    @Argument(
        help: ArgumentHelp("The contact's name, or the beginning of its key id.", valueName: "contact"),
        completion: .contacts)
    var name: String

    @OptionGroup var options: ContactOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if options.isEmpty { throw ValidationError("give at least one setting, such as --policy accept") }
    }

    func report(on place: ContactsPlace) throws(CommandError) -> VerbReport {
        let change = try options.change(on: place)
        let contact = try CommandError.catching { () throws(ContactError) in
            try place.book.set(name) { change.apply(to: &$0) }
        }
        return try ContactText(place).changed(contact.id, output)
    }
}
