import ArgumentParser
import Lines
import Operations

/// `waft contacts`: the peers whose keys the user has verified and named.
struct ContactsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "contacts",
        abstract: "Manage contacts and what they may send.",
        discussion: """
            Example: waft contacts me, on one machine; waft contacts allow ID --name kitchen, on another.

            A contact is a key with a name that you chose. Another machine that claims the same name is a stranger. \
            A running receiver notices changes by itself.
            """,
        subcommands: [
            ContactsListCommand.self, ContactsShowCommand.self, ContactsMeCommand.self, ContactsAllowCommand.self,
            ContactsSetCommand.self, ContactsRenameCommand.self, ContactsForgetCommand.self, ContactsBlockCommand.self,
            ContactsUnblockCommand.self, ContactsGroupCommand.self,
        ],
        defaultSubcommand: ContactsListCommand.self
    )
}

/// `waft contacts list`.
struct ContactsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List contacts with their limits, and blocked peers.",
        discussion: "Example: waft contacts list --json"
    )

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let (contacts, blocked) = try await output.doing { waft throws(WaftError) in try waft.contacts.list() }
        for contact in contacts { output.show(contact) }
        for stranger in blocked { output.show(stranger) }
        if contacts.isEmpty {
            output.note("there are no contacts; make one with: waft contacts allow KEY-ID --name NAME")
        }
    }
}

/// `waft contacts show`.
struct ContactsShowCommand: AsyncParsableCommand {
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

    func run() async throws {
        let contact = try await output.doing { waft throws(WaftError) in try waft.contacts.show(name) }
        output.show(contact, as: contact.details)
    }
}

/// `waft contacts me`.
struct ContactsMeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "me",
        abstract: "Print the name and key id of this machine, for use on other machines.",
        discussion: "Example: waft contacts me, and on another machine: waft contacts allow ID --name NAME"
    )

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let me = try await output.doing { waft throws(WaftError) in try waft.contacts.me() }
        output.show(me)
        output.note("on another machine: waft contacts allow \(me.id) --name \(TerminalText.shellWord(me.name))")
    }
}

/// `waft contacts allow`.
struct ContactsAllowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "allow",
        abstract: "Make a contact of a machine whose key id you know.",
        discussion: """
            Example: waft contacts allow 7h2k… --name kitchen --policy accept --for 30d

            The id has 56 characters; the last four are check digits. On the other machine, waft contacts me prints it. With \
            --from, each line of the file is an id, a space and a name; empty lines and lines that begin with # are \
            ignored. If one line is wrong, no contact is added.

            --from-offer takes the key of an offer that waits, such as a phone's: waft contacts allow --from-offer 3 --name \
            "my phone". Later offers from that key are the contact's. Nothing shows whose key it is: compare the fingerprint \
            with the one that the other machine shows, or be sure that the offer is yours.
            """
    )

    @Argument(help: ArgumentHelp("The full id of its key.", valueName: "key-id"))
    var id: String?

    @Option(name: .long, help: ArgumentHelp("Name of the contact.", valueName: "name"))
    var name: String?

    @Option(
        name: .long,
        help: ArgumentHelp("A file with KEY-ID NAME on each line; - for standard input.", valueName: "file"))
    var from: String?

    @Option(
        name: .long,
        help: ArgumentHelp("An offer that waits: its sender becomes the contact.", valueName: "offer"),
        completion: .offers)
    var fromOffer: Int?

    @OptionGroup var options: ContactOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if fromOffer != nil {
            guard id == nil, from == nil, name != nil else {
                throw ValidationError("give --from-offer OFFER and --name, and no KEY-ID or --from")
            }
        } else if from != nil {
            guard id == nil, name == nil else {
                throw ValidationError("give either --from FILE, or a KEY-ID and --name")
            }
        } else if id == nil || name == nil {
            throw ValidationError("give a KEY-ID and --name, or --from FILE")
        }
    }

    func run() async throws {
        if let fromOffer, let name {
            let (offer, dialect, key) = try await output.doing { waft throws(WaftError) in
                try await waft.contacts.sender(ofOffer: fromOffer)
            }
            Self.show(offer, fromOffer, dialect, key)
            return try await allow { () throws(WaftError) in [try NewContact(key, name: name, isOfOffer: true)] }
        }
        try await allow { () throws(WaftError) in
            if let from {
                return from == "-"
                    ? try NewContact.list(in: 0, called: "standard input") : try NewContact.list(at: from)
            }
            return [try NewContact(id ?? "", name: name ?? "")]
        }
    }

    private func allow(_ wanted: () throws(WaftError) -> [NewContact]) async throws {
        let contacts = try await output.doing { waft throws(WaftError) in
            try await waft.contacts.allow(wanted(), try options.terms(waft))
        }
        for contact in contacts { output.show(contact, as: contact.words.map { "allowed " + $0 }) }
    }

    /// Shows the sender of an offer, for a comparison.
    private static func show(_ offer: OfferLine, _ number: Int, _ dialect: String, _ key: String) {
        let name = TerminalText.peerName(offer.from.name ?? "")
        Console.shared.note("offer \(number) is from \"\(name)\", by \(dialect), key id \(key)")
        if let host = offer.host {
            Console.shared.note("it came from the address \(TerminalText.escaped(host, limit: 128))")
        }
        if let certificate = offer.certificate {
            Console.shared.note("fingerprint of its certificate: \(TerminalText.escaped(certificate, limit: 128))")
        }
        Console.shared.note("the offer still waits: waft accept \(number)")
    }
}

/// `waft contacts set`.
struct ContactsSetCommand: AsyncParsableCommand {
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

    func run() async throws {
        try await output.show { waft throws(WaftError) in try await waft.contacts.set(name, try options.terms(waft)) }
    }
}

/// `waft contacts rename`.
struct ContactsRenameCommand: AsyncParsableCommand {
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

    func run() async throws {
        let (contact, former, rules) = try await output.doing { waft throws(WaftError) in
            try await waft.contacts.rename(name, to: new)
        }
        output.show(
            contact, as: ["\(TerminalText.escaped(former)) is now called \(TerminalText.escaped(contact.name))"])
        for rule in rules {
            Console.shared.note(
                "policy in the configuration still names \(TerminalText.escaped(rule.name)), first in rule "
                    + "\(rule.rule); change it there")
        }
    }
}

/// `waft contacts forget`.
struct ContactsForgetCommand: AsyncParsableCommand {
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

    func run() async throws {
        try await output.show { waft throws(WaftError) in try await waft.contacts.forget(name) }
    }
}

/// `waft contacts block`.
struct ContactsBlockCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "block",
        abstract: "Block a contact or stranger: refuse its offers without a question.",
        discussion: "Example: waft contacts block kitchen"
    )

    @Argument(help: ArgumentHelp("The full id of its key, or a contact's name.", valueName: "key-id"))
    var id: String

    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await output.show { waft throws(WaftError) in try await waft.contacts.block(id) }
    }
}

/// `waft contacts unblock`.
struct ContactsUnblockCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unblock",
        abstract: "Unblock a peer.",
        discussion: "Example: waft contacts unblock kitchen"
    )

    @Argument(help: ArgumentHelp("The full id of its key, or a contact's name.", valueName: "key-id"))
    var id: String

    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await output.show { waft throws(WaftError) in try await waft.contacts.unblock(id) }
    }
}
