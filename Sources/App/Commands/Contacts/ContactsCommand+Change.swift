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

    func report(on place: ContactsPlace) throws(CommandFailure) -> VerbReport {
        let change = try options.change(on: place)
        let contact = try CommandFailure.catching { () throws(ContactError) in
            try place.book.set(name) { change.apply(to: &$0) }
        }
        return try ContactText(place).changed(contact.id, output)
    }
}

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

    func report(on place: ContactsPlace) throws(CommandFailure) -> VerbReport {
        let new = try CommandFailure.contactName(new)
        let contact = try CommandFailure.catching { () throws(ContactError) in try place.book.rename(name, to: new) }
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

    func report(on place: ContactsPlace) throws(CommandFailure) -> VerbReport {
        let contact = try CommandFailure.catching { () throws(ContactError) in
            try place.book.forget(name, at: place.now())
        }
        let event = EventLine.forgotten(StandingFields(contact.id, contact, isBlocked: contact.isBlocked))
        let rest = contact.isBlocked ? "; its key is still blocked" : ""
        let line = "forgot \(TerminalText.escaped(contact.name.text)) (\(contact.id.short))\(rest)"
        return VerbReport(results: [output.json ? event.text : line], isChange: true)
    }
}

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

    func report(on place: ContactsPlace) throws(CommandFailure) -> VerbReport {
        let snapshot = try place.snapshot()
        let peer = try KeyWord.peer(id, in: snapshot)
        if let own = try? place.ownID(), own == peer {
            throw CommandFailure(.usage, "this is the key of this machine itself")
        }
        try CommandFailure.catching { () throws(ContactError) in
            try place.book.block(peer, callingItself: "", at: place.now())
        }
        let event = EventLine.blocked(StandingFields(peer, snapshot[peer], isBlocked: true))
        let line = "\(ContactText.name(peer, snapshot)) is blocked"
        return VerbReport(results: [output.json ? event.text : line], isChange: true)
    }
}

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

    func report(on place: ContactsPlace) throws(CommandFailure) -> VerbReport {
        let snapshot = try place.snapshot()
        let peer = try KeyWord.peer(id, in: snapshot)
        let wasBlocked = try CommandFailure.catching { () throws(ContactError) in try place.book.unblock(peer) }
        let name = ContactText.name(peer, snapshot)
        guard wasBlocked else {
            throw CommandFailure(.usage, "\(name) is not blocked", hint: "see: waft contacts")
        }
        let event = EventLine.unblocked(StandingFields(peer, snapshot[peer], isBlocked: false))
        let line = "\(name) is no longer blocked"
        return VerbReport(results: [output.json ? event.text : line], isChange: true)
    }
}
