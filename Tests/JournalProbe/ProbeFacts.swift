import ContentCheck
import Digests
import Sharing
import UniformTypes

/// What the probe writes down: everything in it follows from the name, so that whoever reads it can tell whether it is
/// whole.
enum ProbeFacts {
    /// - Parameter note: how often the name stands in the note: many times, so that the log soon has as much as is moved
    ///   into the file at once.
    static func arrival(_ text: String, isDelivered: Bool, note: Int = 600) -> IntendedArrival? {
        guard let name = try? SafeName(text), let type = UniformType("public.plain-text"),
            let peer = PeerID(fingerprint: Array(repeating: 7, count: PeerID.byteCount))
        else { return nil }
        let facts = ArrivalFacts(
            transfer: TransferID(), itemNumber: 0, itemsInOffer: 1,
            item: OfferedItem(kind: .file, name: name, type: type, size: nil), size: UInt64(text.utf8.count),
            digest: Digest.of(.sha256, Array(text.utf8)), peer: peer, senderName: "sender of " + text,
            annotation: ["note": String(repeating: text, count: note)],
            content: ContentVerdict(.consistent, nil, "content of " + text))
        return IntendedArrival(
            facts: facts, identity: FileIdentity(device: 1, inode: UInt64(text.utf8.count)), isDelivered: isDelivered)
    }

    static func isWhole(_ arrival: Arrival) -> Bool {
        guard var expected = Self.arrival(arrival.item.name.text, isDelivered: true)?.facts else { return false }
        expected.transfer = arrival.facts.transfer
        return expected == arrival.facts && arrival.stored.path == "/Inbox/" + arrival.item.name.text
    }
}
