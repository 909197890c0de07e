package import Digests

/// The digests of an item's contents.
package struct ContentDigests: Hashable, Sendable {
    /// Of a file's contents, or of a tree's listing in byte order, as `ArrivalFacts.digest`; nil for a sealed tree that
    /// came in another order.
    package var lasting: Digest?
    /// The digest that the sender knows.
    package var sent: Digest
    /// The sender's own lasting digest, if that is another; see `ArrivalFacts.ownDigest`.
    package private(set) var own: Digest?

    package init(lasting: Digest?, sent: Digest, own: Digest? = nil) {
        (self.lasting, self.sent) = (lasting, sent)
        self.own = own == lasting || own == sent ? nil : own
    }

    /// Those by which its sender can know it.
    package var all: [Digest] { [lasting, sent, own].compactMap(\.self) }
}

/// The digests of a sealed item, as the journal has them. An open digest of the contents would tell a thief which known
/// file it is.
package struct SealedDigests: Hashable, Sendable {
    /// Of the item as it is on the disk, sealed: `xxh3-128`, against faults. The seal itself shows changes.
    package var stored: Digest
    /// `ContentDigests`, sealed to the keys of the item: a small age file.
    package var contents: [UInt8]

    package init(stored: Digest, contents: [UInt8]) {
        (self.stored, self.contents) = (stored, contents)
    }
}
