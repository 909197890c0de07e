/// Every bound on what a stranger may make us hold, count or wait for, in one place (security rule 6).
///
/// Names and paths carry theirs themselves (`SafeName`, `SafeRelativePath`).
package enum Limits {
    /// Bytes of an offer's text, and of any other single message that is held whole.
    package static let offerBytes = 24 << 20
    /// Bytes of a card or any other small message.
    package static let messageBytes = 64 << 10
    /// Top-level items in one offer.
    package static let items = 65_536
    /// Files, folders and links in one item.
    package static let entriesPerItem: UInt64 = 16 << 20
    /// Bytes one item may announce.
    package static let itemBytes: UInt64 = 1 << 60
    /// Bytes in the name a peer gives itself.
    package static let peerNameBytes = 63
    /// Bytes of the annotation (and of a note, which is part of it).
    package static let annotationBytes = 16 << 10
    /// Bytes of one frame's contents.
    package static let frameBytes = 1 << 20
    /// Bytes of a frame that is not contents.
    package static let headerFrameBytes = 16 << 10

    /// Bytes of the list of what is kept of a transfer's items: enough for some 113,000 files of a block each. Both sides
    /// hold it whole.
    package static let keptListBytes = 4 << 20
    /// Blocks of one file in such a list: larger than 16 GiB, a file has larger blocks.
    package static let keptBlocks: UInt64 = 16_384
    /// Bytes of the smallest block, as a power of two.
    package static let keptBlockExponent = 20

    /// Offers of one peer that may wait for consent at the same time.
    package static let waitingOffersPerPeer = 4
    /// Offers that may wait for consent in all.
    package static let waitingOffers = 64
    /// Transfers accepted for one peer and not finished.
    package static let openTransfersPerPeer = 16
    /// Items in all offers that wait, are accepted or are being received: keys cost a stranger nothing, so a limit for
    /// each peer alone bounds no memory.
    package static let openItems = 262_144
    /// Finished transfers whose receipt can be asked for again.
    package static let rememberedReceipts = 1_024
    /// Items in all remembered receipts.
    package static let rememberedItems = 131_072

    /// How long an offer waits for consent.
    package static let consentWait: Duration = .seconds(110)
    /// How long an accepted transfer waits for its contents to begin.
    package static let contentsWait: Duration = .seconds(60)
    /// How long nothing may arrive in the middle of a message.
    package static let silence: Duration = .seconds(60)
    /// How long a secured connection may lie idle between requests.
    package static let idleConnection: Duration = .seconds(120)
}
