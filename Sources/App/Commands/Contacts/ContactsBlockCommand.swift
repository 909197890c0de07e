import ArgumentParser
import Contacts
import Lines
import Settings
import Sharing

/// `waft contacts block`.
struct ContactsBlockCommand: ContactsVerb {
    static let configuration = CommandConfiguration(
        commandName: "block",
        abstract: "Block a contact or stranger: refuse its offers without a question.",
        discussion: "Example: waft contacts block kitchen"
    )

    @Argument(help: ArgumentHelp("The full id of its key, or a contact's name.", valueName: "key-id"))
    var id: String

    @OptionGroup var output: OutputOptions

    func report(on place: ContactsPlace) throws(CommandError) -> VerbReport {
        let snapshot = try place.snapshot()
        let peer = try KeyWord.peer(id, in: snapshot)
        if let own = try? place.ownID(), own == peer {
            throw CommandError(.usage, "this is the key of this machine itself")
        }
        try CommandError.catching { () throws(ContactError) in
            try place.book.block(peer, callingItself: "", at: place.now())
        }
        let event = EventLine.blocked(StandingFields(peer, snapshot[peer], isBlocked: true))
        let line = "\(ContactText.name(peer, snapshot)) is blocked"
        return VerbReport(results: [output.json ? event.text : line], isChange: true)
    }
}
