import ArgumentParser
import Contacts
import Sharing

/// `waft contacts list`.
struct ContactsListCommand: ContactsVerb {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List contacts with their limits, and blocked peers.",
        discussion: "Example: waft contacts list --json"
    )

    @OptionGroup var output: OutputOptions

    func report(on place: ContactsPlace) throws(CommandError) -> VerbReport {
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
