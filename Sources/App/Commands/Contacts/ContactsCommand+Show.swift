import ArgumentParser
import Contacts
import Sharing

/// `waft contacts list`.
struct ContactsListCommand: ContactsVerb {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List contacts, what each may send, and blocked peers.",
        discussion: "Example: waft contacts list --json"
    )

    @OptionGroup var output: OutputOptions

    func report(on place: ContactsPlace) throws(CommandFailure) -> VerbReport {
        let (snapshot, text) = (try place.snapshot(), ContactText(place))
        if output.json {
            return VerbReport(
                results: snapshot.contacts.map { EventLine.contact(ContactFields($0)).text }
                    + snapshot.blockedStrangers.map { EventLine.blockedStranger(BlockedFields($0)).text })
        }
        var report = VerbReport(
            results: snapshot.contacts.map(text.line) + snapshot.blockedStrangers.map(text.line))
        if snapshot.contacts.isEmpty {
            report.notes.append("there are no contacts; make one with: waft contacts allow KEY-ID --name NAME")
        }
        return report
    }
}

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

    func report(on place: ContactsPlace) throws(CommandFailure) -> VerbReport {
        let snapshot = try place.snapshot()
        let contact = try CommandFailure.catching { () throws(ContactError) in try snapshot.find(name) }
        return VerbReport(
            results: output.json
                ? [EventLine.contact(ContactFields(contact)).text] : ContactText(place).description(of: contact))
    }
}

/// `waft contacts me`.
struct ContactsMeCommand: ContactsVerb {
    static let configuration = CommandConfiguration(
        commandName: "me",
        abstract: "Print the name and key id of this machine, for use on other machines.",
        discussion: "Example: waft contacts me, and on another machine: waft contacts allow ID --name NAME"
    )

    struct Fields: Encodable {
        var name: String
        var id: String
        var short: String
    }

    @OptionGroup var output: OutputOptions

    func report(on place: ContactsPlace) throws(CommandFailure) -> VerbReport {
        let id: PeerID
        do {
            id = try place.ownID()
        } catch {
            throw CommandFailure(.unexpected, TerminalText.escaped("\(error)", limit: 1_000))
        }
        if output.json {
            let fields = Fields(name: place.ownName, id: id.text, short: id.short)
            return VerbReport(results: [EventLine.me(fields).text])
        }
        return VerbReport(
            results: ["name  \(TerminalText.escaped(place.ownName))", "id    \(id.text)"],
            notes: [
                "on another machine: waft contacts allow \(id.text) --name \(TerminalText.shellWord(place.ownName))"
            ])
    }
}
