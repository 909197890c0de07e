import ArgumentParser
import Contacts
import Lines
import Settings
import Sharing

/// `waft contacts unblock`.
struct ContactsUnblockCommand: ContactsVerb {
    static let configuration = CommandConfiguration(
        commandName: "unblock",
        abstract: "Unblock a peer.",
        discussion: "Example: waft contacts unblock kitchen"
    )

    @Argument(help: ArgumentHelp("The full id of its key, or a contact's name.", valueName: "key-id"))
    var id: String

    @OptionGroup var output: OutputOptions

    func report(on place: ContactsPlace) throws(CommandError) -> VerbReport {
        let snapshot = try place.snapshot()
        let peer = try KeyWord.peer(id, in: snapshot)
        let wasBlocked = try CommandError.catching { () throws(ContactError) in try place.book.unblock(peer) }
        let name = ContactText.name(peer, snapshot)
        guard wasBlocked else {
            throw CommandError(.usage, "\(name) is not blocked", hint: "see: waft contacts")
        }
        let event = EventLine.unblocked(StandingFields(peer, snapshot[peer], isBlocked: false))
        let line = "\(name) is no longer blocked"
        return VerbReport(results: [output.json ? event.text : line], isChange: true)
    }
}
