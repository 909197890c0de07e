import ArgumentParser
import Contacts
import Control
import Endpoints
import Foundation
import Lines
import Sharing

/// `waft contacts allow`.
struct ContactsAllowCommand: ContactsVerb {
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

    mutating func run() async throws {
        if let fromOffer { id = try await Self.keyOfSender(of: fromOffer) }
        try await carryOut()
    }

    /// Shows the sender of an offer, and returns the id of its key.
    private static func keyOfSender(of number: Int) async throws -> String {
        guard case .offers(let offers) = try await Daemon.ask(.offers) else {
            throw CommandError(.unexpected, "the receiver gave no offers")
        }
        guard let offer = offers.first(where: { $0.offer == number }) else {
            throw CommandError(.inputMissing, "no offer \(number) waits for an answer", hint: "see: waft offers")
        }
        let title = offer.via.map { DialectTable.known[$0].title } ?? "an unknown protocol"
        guard let key = offer.from.id else {
            throw CommandError(
                .usage, "the sender of offer \(number) came by \(title) and proved no key: it stays a stranger")
        }
        let name = TerminalText.peerName(offer.from.name ?? "")
        Console.shared.note("offer \(number) is from \"\(name)\", by \(title), key id \(key)")
        if let host = offer.host {
            Console.shared.note("it came from the address \(TerminalText.escaped(host, limit: 128))")
        }
        if let certificate = offer.certificate {
            Console.shared.note("fingerprint of its certificate: \(TerminalText.escaped(certificate, limit: 128))")
        }
        Console.shared.note("the offer still waits: waft accept \(number)")
        return key
    }

    func report(on place: ContactsPlace) throws(CommandError) -> VerbReport {
        let wanted = try wanted()
        let change = try options.change(on: place)
        let own = try? place.ownID()
        if let mistaken = wanted.first(where: { $0.id == own }) {
            throw mistaken.failure("this is the key of this machine itself; the id of the other one is needed")
        }
        let verification = Verification(fromOffer == nil ? .keyID : .firstUse, at: place.now())
        var current: ContactAllowance?
        var refusal: CommandError?
        do throws(ContactError) {
            try place.book.change { draft throws(ContactError) in
                refusal = Self.misnamed(wanted, draft.before)
                guard refusal == nil else { return }
                for allowance in wanted {
                    current = allowance
                    let known = draft.before[allowance.id]
                    // A contact that was verified in a better way stays so.
                    if known == nil || known?.isBlocked == true {
                        try draft.allow(allowance.id, named: allowance.name, verification)
                    }
                    try draft.set(allowance.id) { change.apply(to: &$0) }
                }
            }
        } catch {
            throw CommandError(error, at: current?.place)
        }
        if let refusal { throw refusal }
        let (snapshot, text) = (try place.snapshot(), ContactText(place))
        let contacts = wanted.compactMap { snapshot[$0.id] }
        return VerbReport(
            results: contacts.map {
                output.json ? EventLine.contact(ContactFields($0)).text : "allowed " + text.line($0)
            },
            isChange: true)
    }

    private func wanted() throws(CommandError) -> [ContactAllowance] {
        if let from { return try ContactList.read(from) }
        guard let id, let name else { throw CommandError(.usage, "give a KEY-ID and --name") }
        let key = try KeyWord.whole(id)
        return [ContactAllowance(id: key, name: try CommandError.contactName(name), place: nil)]
    }

    /// A failure if a key is known already by another name, or stands in the list twice with different names.
    private static func misnamed(_ wanted: [ContactAllowance], _ before: ContactSnapshot) -> CommandError? {
        var names: [PeerID: ContactName] = [:]
        for allowance in wanted {
            if let contact = before[allowance.id], contact.name != allowance.name {
                let old = TerminalText.escaped(contact.name.text)
                return allowance.failure(
                    "this key already belongs to your contact \(old)",
                    hint: "to rename it: waft contacts rename \(TerminalText.shellWord(contact.name.text)) NEW")
            }
            if let other = names.updateValue(allowance.name, forKey: allowance.id), other != allowance.name {
                return allowance.failure("the key is listed twice, also with the name \(other)")
            }
        }
        return nil
    }
}
