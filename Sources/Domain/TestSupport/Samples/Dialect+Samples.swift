package import ContentCheck
package import Digests
package import Sharing

extension Dialect {
    /// A dialect with all abilities, for tests of the domain.
    package static let keyed = Dialect(
        name: "waft", title: "Waft", proof: .always, givesReceipts: true, resumes: true)
    /// A dialect that proves and promises nothing.
    package static let keyless = Dialect(
        name: "airdrop", title: "AirDrop", proof: .never, givesReceipts: false, resumes: false)
}

extension Dialect {
    /// A dialect in which some peers prove a key, and each file is a request of its own.
    package static let mixed = Dialect(
        name: "localsend", title: "LocalSend", proof: .sometimes, givesReceipts: false, resumes: false)
}

extension DialectTable {
    package static let samples = DialectTable([.keyed, .keyless, .mixed])
}

extension Offer {
    /// An offer by a dialect with all abilities.
    package init(
        transfer: TransferID = TransferID(), items: [OfferedItem], annotation: [String: String] = [:],
        senderName: String, digests: [DigestAlgorithm] = [.xxh3_128, .sha256], takesPart: Bool = false
    ) {
        self.init(
            transfer: transfer, items: items, annotation: annotation, senderName: senderName, digests: digests,
            takesPart: takesPart, dialect: .keyed)
    }
}

extension ArrivalFacts {
    /// An arrival by a dialect with all abilities.
    package init(
        transfer: TransferID, itemNumber: Int, itemsInOffer: Int, item: OfferedItem, size: UInt64,
        entries: UInt64? = nil, digest: Digest, sentDigest: Digest? = nil, peer: PeerID, senderName: String,
        annotation: [String: String], content: ContentVerdict? = nil, destination: Destination = .usual
    ) {
        self.init(
            transfer: transfer, itemNumber: itemNumber, itemsInOffer: itemsInOffer, item: item, size: size,
            entries: entries, digest: digest, sentDigest: sentDigest, peer: peer, senderName: senderName,
            annotation: annotation, content: content, destination: destination, dialect: .keyed)
    }
}
