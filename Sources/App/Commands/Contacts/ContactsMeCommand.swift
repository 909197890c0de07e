import ArgumentParser
import Contacts
import Lines
import Sharing

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

    func report(on place: ContactsPlace) throws(CommandError) -> VerbReport {
        let id: PeerID
        do {
            id = try place.ownID()
        } catch {
            throw CommandError(.unexpected, TerminalText.escaped("\(error)", limit: 1_000))
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
