import Contacts
import Foundation
import Lines
import Sharing
import UniformTypes

/// Text about contacts, for people. All lines are escaped.
struct ContactText {
    let place: ContactsPlace

    private static let labelWidth = 10
    /// Types that are named in a line.
    private static let namedTypes = 4

    init(_ place: ContactsPlace) {
        self.place = place
    }

    static func escaped(_ text: String) -> String { TerminalText.escaped(text) }

    /// A contact's name, or a stranger's key.
    static func name(_ id: PeerID, _ snapshot: ContactSnapshot) -> String {
        snapshot[id].map { escaped($0.name.text) } ?? "the peer \(id.short)"
    }

    // MARK: A line each

    /// `kitchen  k7qf-9m2c-x4ap-t0zd  accept: public.image, up to 5.0 GB, until 2026-12-21 08:00:00`.
    func line(_ contact: Contact) -> String {
        "\(Self.escaped(contact.name.text))  \(contact.id.short)  \(terms(contact))"
    }

    func line(_ stranger: BlockedStranger) -> String {
        let name = Self.escaped(stranger.calledItself)
        return "stranger \"\(name)\"  \(stranger.id.short)  blocked since \(moment(stranger.at))"
    }

    private func terms(_ contact: Contact) -> String {
        if contact.isBlocked { return "blocked" }
        let limits = contact.policy == .decline ? [] : limits(contact)
        return contact.policy.rawValue + (limits.isEmpty ? "" : ": " + limits.joined(separator: ", "))
    }

    private func limits(_ contact: Contact) -> [String] {
        let limits = contact.limits
        var words: [String] = []
        if !limits.types.isEmpty {
            let more = limits.types.count > Self.namedTypes ? " or \(Glyph.ellipsis)" : ""
            words.append(limits.types.prefix(Self.namedTypes).map(\.identifier).joined(separator: " or ") + more)
        }
        if let size = limits.largestOffer { words.append("up to \(ByteCount.text(size))") }
        if let items = limits.maximumItems { words.append("up to \(items) \(items == 1 ? "item" : "items")") }
        if let size = limits.sizePerDay { words.append("up to \(ByteCount.text(size)) a day") }
        if let times = limits.times { words.append("\(times)") }
        if let until = limits.until {
            words.append("\(until <= place.now() ? "ended" : "until") \(moment(until))")
        }
        return words
    }

    // MARK: All of one

    func description(of contact: Contact) -> [String] {
        let limits = contact.limits
        let rows: [(label: String, values: [String])] = [
            ("id", [contact.id.text]),
            ("state", contact.isBlocked ? ["blocked: its offers are refused, and you are not asked"] : []),
            ("policy", [Self.words(contact.policy)]),
            ("types", limits.types.map(\.identifier)),
            ("size", limits.largestOffer.map { ["up to \(ByteCount.text($0)) in one offer"] } ?? []),
            ("items", limits.maximumItems.map { ["up to \($0) in one offer"] } ?? []),
            ("day", limits.sizePerDay.map { [day(contact, $0)] } ?? []),
            ("time", limits.times.map { ["\($0)"] } ?? []),
            (
                "until",
                limits.until.map { [moment($0) + ($0 <= place.now() ? " (ended: you are asked)" : "")] } ?? []
            ),
            ("handler", contact.destination.handler.map { [Self.escaped($0)] } ?? []),
            ("folder", contact.destination.folder.map { [Self.escaped($0.text)] } ?? []),
            ("sealed", contact.destination.protection.map { [$0.rawValue] } ?? []),
            ("verified", ["\(Self.words(contact.verification.method)), \(moment(contact.verification.at))"]),
            (
                "reached",
                contact.addresses.map { "\(Self.escaped($0.host)) port \($0.port), \(moment($0.lastGood))" }
            ),
        ]
        return [Self.escaped(contact.name.text)] + rows.flatMap(Self.lines)
    }

    private func day(_ contact: Contact, _ size: UInt64) -> String {
        let come = place.received(.peer(contact.id))
        let words =
            come.map { "\(ByteCount.text($0)) received" } ?? "you are asked, because the journal cannot be read"
        return "up to \(ByteCount.text(size)) in 24 hours; \(words)"
    }

    private static func lines(_ row: (label: String, values: [String])) -> [String] {
        row.values.enumerated().map { index, value in
            let label = index == 0 ? row.label : ""
            return "  " + label + String(repeating: " ", count: labelWidth - label.count) + value
        }
    }

    private static func words(_ policy: PolicyAction) -> String {
        switch policy {
        case .accept: "accept: its offers are accepted without a question"
        case .ask: "ask: you are asked about its offers"
        case .decline: "decline: its offers are declined"
        }
    }

    private static func words(_ method: Verification.Method) -> String {
        switch method {
        case .comparedCode: "by comparing codes"
        case .typedCode: "by typing a code"
        case .keyID: "by its key id"
        case .firstUse: "by the key of an offer, which was not compared"
        }
    }

    /// In the time zone of the place.
    func moment(_ time: WallTime) -> String {
        let format = Date.ISO8601FormatStyle(timeZone: place.zone).year().month().day()
            .dateTimeSeparator(.space).time(includingFractionalSeconds: false)
        return LineTime(time).date.formatted(format)
    }

    // MARK: Changes

    /// - Parameter words: nil for the contact's line.
    func changed(_ id: PeerID, _ output: OutputOptions, _ words: String? = nil) throws(CommandError) -> VerbReport {
        guard let contact = try place.snapshot()[id] else {
            throw CommandError(.unexpected, "the contact was forgotten meanwhile")
        }
        return VerbReport(
            results: [output.json ? EventLine.contact(ContactFields(contact)).text : words ?? line(contact)],
            isChange: true)
    }
}
