import ArgumentParser
import Contacts
import Settings
import Sharing

/// `waft contacts rename`.
struct ContactsRenameCommand: ContactsVerb {
    static let configuration = CommandConfiguration(
        commandName: "rename",
        abstract: "Rename a contact.",
        discussion: "Example: waft contacts rename kitchen study"
    )

    @Argument(
        help: ArgumentHelp("The contact's name, or the beginning of its key id.", valueName: "contact"),
        completion: .contacts)
    var name: String

    @Argument(help: ArgumentHelp("Its new name.", valueName: "new-name"))
    var new: String

    @OptionGroup var output: OutputOptions

    func report(on place: ContactsPlace) throws(CommandError) -> VerbReport {
        let new = try CommandError.contactName(new)
        let contact = try CommandError.catching { () throws(ContactError) in try place.book.rename(name, to: new) }
        var report = try ContactText(place).changed(
            contact.id, output,
            "\(TerminalText.escaped(contact.name.text)) is now called \(TerminalText.escaped(new.text))"
        )
        // The rules of the configuration go by names, and are the user's to write.
        let named = place.policy.unknownContacts(in: try place.snapshot())
        for rule in named where rule.name == contact.name && rule.name != new {
            report.notes.append(
                "policy in the configuration still names \(TerminalText.escaped(rule.name.text)), first in rule "
                    + "\(rule.rule); change it there")
        }
        return report
    }
}
