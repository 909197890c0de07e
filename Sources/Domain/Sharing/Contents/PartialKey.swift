private import Digests
import UniformTypes

/// The key of staged contents: it is the same for an item of the same kind, name, type and protection, offered by the
/// same peer, in any transfer, by any command.
///
/// The size is not part of it: a file that has grown, or a tree with one different file, continues at the difference.
/// The contents found are not trusted: every byte is compared with the source.
package struct PartialKey: Hashable, Sendable {
    package static let digits = 128

    /// So many lower-case hexadecimal digits: `owner`, and as many for the item.
    package let text: String
    /// Bytes of the item's contents as it is offered now.
    package let size: UInt64
    package let protection: ProtectionClass

    /// - Returns: nil for an item that cannot be resumed, because its size is not known.
    package init?(_ item: OfferedItem, from peer: PeerID, protection: ProtectionClass = .none) {
        self.init(item, ofOwner: Self.owner(peer), protection: protection)
    }

    /// - Parameter owner: `owner` of its peer, computed once for many items.
    init?(_ item: OfferedItem, ofOwner owner: String, protection: ProtectionClass) {
        guard let size = item.size else { return nil }
        self.size = size
        self.protection = protection
        let fields = ["item", item.kind.rawValue, item.name.text, item.type.identifier]
        self.text =
            owner + StableHash.text(fields + (protection.isSealed ? [protection.rawValue] : []))
    }

    /// The first 64 digits of all keys of a peer. The whole hash: a part of it could be forged, and another peer would
    /// learn of the kept contents.
    package static func owner(_ peer: PeerID) -> String { StableHash.text("peer", peer.bareText) }
}

/// The key of a recorded consent: the same items, in the same order, with the same annotation, offered by the same
/// peer.
package struct ConsentKey: Hashable, Sendable {
    package static let digits = 64

    /// So many lower-case hexadecimal digits.
    package let text: String

    package init(_ offer: Offer, from peer: PeerID) {
        var hash = StableHash()
        hash.add("offer", peer.bareText, String(offer.items.count))
        for item in offer.items {
            hash.add(
                item.kind.rawValue, item.name.text, item.type.identifier, item.size.map { String($0) } ?? "",
                item.entries.map { String($0) } ?? "")
        }
        for (name, value) in offer.annotation.sorted(by: { $0.key < $1.key }) { hash.add(name, value) }
        self.text = hash.text()
    }
}

/// The SHA-256 of fields: no attacker can find two lists with the same hash.
private struct StableHash: ~Copyable {
    private var state = DigestState(.sha256)

    static func text(_ fields: String...) -> String { text(fields) }

    static func text(_ fields: [String]) -> String {
        var hash = StableHash()
        hash.add(fields)
        return hash.text()
    }

    mutating func add(_ fields: String...) { add(fields) }

    private mutating func add(_ fields: [String]) {
        for field in fields {
            // With its length before it, so that no two lists have the same bytes.
            state.update("\(field.utf8.count):".utf8)
            state.update(field.utf8)
        }
    }

    consuming func text() -> String {
        String(state.finalize().description.dropFirst(DigestAlgorithm.sha256.rawValue.utf8.count + 1))
    }
}
