import Digests
import Foundation
import Sharing
import UniformTypes

/// The contact book in its file: JSON, version 3, with a checksum in the last line (`SummedDocument`). Every new field
/// raises the version, because an older Waft drops fields that it does not know when it writes.
///
/// Version 1 had neither the checksum nor check digits in key ids. Version 2 had no contacts with an end, and no groups. Both are read;
/// the next change writes version 3.
struct BookDocument: Codable {
    static let version = 3

    var version: Int
    var contacts: [Entry]
    var blocked: [Stranger]
    /// Since version 3.
    var groups: [Group]?

    /// A key id. A file of version 1 may omit the check digits.
    struct Key: Codable {
        var id: PeerID
        var isChecked = true

        init(_ id: PeerID) {
            self.id = id
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            let text = try container.decode(String.self)
            isChecked = PeerID(text: text) != nil
            guard let id = PeerID(text: text) ?? PeerID(bareText: text) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "not the text of a key id")
            }
            self.id = id
        }

        func encode(to encoder: any Encoder) throws { try id.encode(to: encoder) }
    }

    struct Entry: Codable {
        var id: Key
        var name: String
        var verified: Verified
        var policy: PolicyAction
        var types: [UniformType]?
        var largestOffer: UInt64?
        var maximumItems: Int?
        /// Since version 2.
        var sizePerDay: UInt64?
        var times: String?
        var days: [String]?
        var until: Int64?
        var handler: String?
        var folder: String?
        var protect: ProtectionClass?
        var addresses: [Address]?
        var blocked: Bool?
        /// Since version 3.
        var ends: Int64?
    }

    struct Verified: Codable {
        var by: Verification.Method
        /// Milliseconds since 1970, as all times here.
        var at: Int64
    }

    struct Address: Codable {
        var host: String
        var port: UInt16
        var lastGood: Int64
    }

    struct Group: Codable {
        var name: String
        var members: [Key]
    }

    struct Stranger: Codable {
        var id: Key
        var name: String
        var at: Int64
    }

    /// The contents of the file are invalid.
    struct FormatError: Error {
        var reason: String
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        // First: in a later version every other field may have another meaning.
        version = try container.decode(Int.self, forKey: .version)
        guard (1...Self.version).contains(version) else {
            throw FormatError(reason: "it is of version \(version), and only 1 to \(Self.version) can be read")
        }
        contacts = try container.decode([Entry].self, forKey: .contacts)
        blocked = try container.decodeIfPresent([Stranger].self, forKey: .blocked) ?? []
        groups = try container.decodeIfPresent([Group].self, forKey: .groups)
    }
}

extension BookDocument {
    init(_ snapshot: ContactSnapshot) {
        version = Self.version
        contacts = snapshot.contacts.map { Entry($0) }
        blocked = snapshot.blockedStrangers.map {
            Stranger(id: Key($0.id), name: $0.calledItself, at: $0.at.milliseconds)
        }
        groups =
            snapshot.groups.isEmpty
            ? nil : snapshot.groups.map { Group(name: $0.name.text, members: $0.members.map { Key($0) }) }
    }

    /// - Throws: `FormatError`.
    func snapshot() throws -> ContactSnapshot {
        guard contacts.count <= ContactBounds.contacts, blocked.count <= ContactBounds.blockedStrangers else {
            throw FormatError(reason: "there are more than \(ContactBounds.contacts) contacts in it")
        }
        guard version == 1 || (contacts.map(\.id) + blocked.map(\.id)).allSatisfy(\.isChecked) else {
            throw FormatError(reason: "a key id in it has no check digits")
        }
        var ids: Set<PeerID> = []
        var names: Set<ContactName> = []
        var read: [Contact] = []
        read.reserveCapacity(contacts.count)
        for (index, entry) in contacts.enumerated() {
            let contact: Contact
            do {
                contact = try entry.contact()
            } catch let error as ContactError {
                throw FormatError(reason: "contact \(index + 1) in it: \(error)")
            } catch let error as NameError {
                throw FormatError(reason: "the folder of contact \(index + 1) in it: \(error)")
            }
            guard ids.insert(contact.id).inserted else { throw FormatError(reason: "it lists a key twice") }
            guard names.insert(contact.name).inserted else {
                throw FormatError(reason: "two contacts in it have the name \(contact.name)")
            }
            read.append(contact)
        }
        let strangers = blocked.map {
            BlockedStranger(
                id: $0.id.id, calledItself: PeerName.fit($0.name), at: WallTime(milliseconds: $0.at))
        }
        return ContactSnapshot(contacts: read, blockedStrangers: strangers, groups: try readGroups())
    }

    /// - Throws: `FormatError`.
    private func readGroups() throws -> [ContactGroup] {
        let groups = groups ?? []
        guard groups.count <= ContactBounds.groups else {
            throw FormatError(reason: "there are more than \(ContactBounds.groups) groups in it")
        }
        var names: Set<ContactName> = []
        return try groups.enumerated().map { index, group in
            guard let name = try? ContactName(group.name), names.insert(name).inserted,
                group.members.count <= ContactBounds.members, group.members.allSatisfy(\.isChecked),
                Set(group.members.map(\.id)).count == group.members.count
            else { throw FormatError(reason: "group \(index + 1) in it is invalid") }
            return ContactGroup(name, group.members.map(\.id))
        }
    }
}

extension BookDocument.Entry {
    init(_ contact: Contact) {
        let limits = contact.limits
        self.init(
            id: .init(contact.id),
            name: contact.name.text,
            verified: .init(by: contact.verification.method, at: contact.verification.at.milliseconds),
            policy: contact.policy,
            types: limits.types.isEmpty ? nil : limits.types,
            largestOffer: limits.largestOffer,
            maximumItems: limits.maximumItems,
            sizePerDay: limits.sizePerDay,
            times: limits.times?.times,
            days: limits.times.flatMap { $0.days.count == 7 ? nil : $0.days.sorted().map(\.short) },
            until: limits.until?.milliseconds,
            handler: contact.destination.handler,
            folder: contact.destination.folder?.text,
            protect: contact.destination.protection,
            addresses: contact.addresses.isEmpty
                ? nil
                : contact.addresses.map { .init(host: $0.host, port: $0.port, lastGood: $0.lastGood.milliseconds) },
            blocked: contact.isBlocked ? true : nil,
            ends: contact.ends?.milliseconds
        )
    }

    /// - Throws: `ContactError`, `NameError`.
    func contact() throws -> Contact {
        guard types?.count ?? 0 <= ContactBounds.types, addresses?.count ?? 0 <= ContactBounds.addresses,
            maximumItems ?? 0 >= 0
        else { throw ContactError.unfit("it has too many types or addresses, or a negative number of items") }
        return Contact(
            id: id.id,
            name: try ContactName(name),
            verification: Verification(verified.by, at: WallTime(milliseconds: verified.at)),
            policy: policy,
            limits: AcceptanceLimits(
                types: types ?? [],
                largestOffer: largestOffer,
                maximumItems: maximumItems,
                sizePerDay: sizePerDay,
                times: try window(),
                until: until.map { WallTime(milliseconds: $0) }
            ),
            destination: try Destination(
                handler: handler, folder: try folder.map { try SafeRelativePath($0) }, protection: protect),
            addresses: try (addresses ?? []).map {
                try KnownAddress(host: $0.host, port: $0.port, lastGood: WallTime(milliseconds: $0.lastGood))
            },
            isBlocked: blocked ?? false,
            ends: ends.map { WallTime(milliseconds: $0) }
        )
    }

    private func window() throws(ContactError) -> TimeWindow? {
        guard let times else {
            guard days == nil else { throw .unfit("days need times") }
            return nil
        }
        guard let days else { return try TimeWindow(times) }
        let read = days.compactMap { Weekday($0) }
        guard read.count == days.count else { throw .unfit("its days are not days of the week") }
        return try TimeWindow(times, days: Set(read))
    }
}

extension BookDocument {
    /// - Throws: `FormatError`.
    init(bytes: [UInt8]) throws(FormatError) {
        let sum = SummedDocument.reading(bytes)
        do {
            switch sum {
            case .whole(let document): self = try JSONDecoder().decode(BookDocument.self, from: Data(document))
            case .unsummed: self = try JSONDecoder().decode(BookDocument.self, from: Data(bytes))
            case .damaged: throw FormatError(reason: "its checksum, in the last line, does not match its contents")
            }
            guard version == 1 || sum != .unsummed else {
                throw FormatError(reason: "its last line, with the checksum, is missing")
            }
        } catch let fault as FormatError {
            throw fault
        } catch {
            throw FormatError(reason: Self.words(error))
        }
    }

    func bytes() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return SummedDocument.adding(to: Array(try encoder.encode(self)) + [UInt8(ascii: "\n")])
    }

    /// The place of the error in the document, without the value there: the value may be long.
    private static func words(_ error: any Error) -> String {
        let isNotJSON = "it is not JSON, or has an invalid number in it"
        guard let error = error as? DecodingError else { return isNotJSON }
        let path: [any CodingKey]
        let what: String
        switch error {
        case .keyNotFound(let key, let context): (path, what) = (context.codingPath + [key], "is missing")
        case .valueNotFound(_, let context): (path, what) = (context.codingPath, "is missing")
        case .typeMismatch(_, let context): (path, what) = (context.codingPath, "has the wrong kind")
        case .dataCorrupted(let context) where context.codingPath.isEmpty: return isNotJSON
        case .dataCorrupted(let context): (path, what) = (context.codingPath, "is invalid")
        @unknown default: return isNotJSON
        }
        guard !path.isEmpty else { return "it is not a JSON document with contacts" }
        let place = path.prefix(8).map { $0.intValue.map { "[\($0 + 1)]" } ?? "." + $0.stringValue }.joined()
        return "\(place.dropFirst(place.hasPrefix(".") ? 1 : 0)) in it \(what)"
    }
}
