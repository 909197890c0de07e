import ContentCheck
import Digests
import Sharing
import UniformTypes

/// The facts that the probe records. All of them follow from the name, so a reader can check whether they are
/// complete.
enum ProbeFacts {
    /// - Parameter note: how often the note repeats the name. Many repetitions soon fill the log to the size at which
    /// SQLite moves it into the file.
    static func arrival(_ text: String, isDelivered: Bool, note: Int = 600) -> IntendedArrival? {
        guard let name = try? SafeName(text), let type = UniformType("public.plain-text"),
            let peer = PeerID(fingerprint: Array(repeating: 7, count: PeerID.byteCount))
        else { return nil }
        let facts = ArrivalFacts(
            transfer: TransferID(), itemNumber: 0, itemsInOffer: 1,
            item: OfferedItem(kind: .file, name: name, type: type, size: nil), size: UInt64(text.utf8.count),
            digest: Digest.of(.sha256, Array(text.utf8)), peer: peer, senderName: "sender of " + text,
            annotation: ["note": String(repeating: text, count: note)],
            content: ContentVerdict(.consistent, nil, "content of " + text), dialect: .probe)
        return IntendedArrival(
            facts: facts, identity: FileIdentity(device: 1, inode: UInt64(text.utf8.count)), isDelivered: isDelivered)
    }

    static func isWhole(_ arrival: Arrival) -> Bool {
        guard var expected = Self.arrival(arrival.item.name.text, isDelivered: true)?.facts else { return false }
        expected.transfer = arrival.facts.transfer
        return expected == arrival.facts && arrival.stored.path == "/Inbox/" + arrival.item.name.text
    }
}
