import Groups
import Sharing

/// The field `group` of an offer (Protocol, section 9.1).
struct GroupMessage: Codable {
    var id: String
    var members: Int
    /// Bytes of a block.
    var block: Int
}

/// The field `relay` of a verdict.
struct RelayMessage: Codable {
    var may: Bool
}

/// A field that is ignored if its value has another form: it never makes its message malformed.
struct Lenient<Value: Codable>: Codable {
    /// Nil if it had another form.
    var value: Value?

    init(_ value: Value) { self.value = value }

    init(from decoder: any Decoder) {
        value = try? Value(from: decoder)
    }

    func encode(to encoder: any Encoder) throws { try value?.encode(to: encoder) }
}

extension GroupMessage {
    init(_ group: OfferedGroup) {
        self.init(id: group.id.text, members: group.members, block: GroupLimits.blockBytes)
    }

    /// - Returns: nil for a group that this version cannot join.
    var offered: OfferedGroup? {
        guard let id = GroupID(id), block == GroupLimits.blockBytes,
            (GroupLimits.minimumMembers...GroupLimits.maximumMembers).contains(members)
        else { return nil }
        return OfferedGroup(id: id, members: members)
    }
}
