/// Every bound on the memory, counts and waits that a stranger may cause, in one place (security rule 6).
///
/// Names and paths have their own (`SafeName`, `SafeRelativePath`).
package enum Limits {
    /// Bytes of an offer's text, of a verdict's and of a receipt's: `items` lines with the longest names and types.
    package static let offerBytes = 8 << 20
    /// Bytes of the previews' text, in addition: room for all that are allowed, and for some that are dropped.
    package static let previewTextBytes = 2 << 20
    /// Bytes of messages of all peers that are held at the same time, while they are read.
    package static let bodyBytes = 24 << 20
    /// The part of them for all strangers together: one offer of the largest size. A contact's offer fits beside it.
    package static let bodyBytesOfStrangers = 8 << 20
    /// Bytes of a card or any other small message, and of one line of a longer one.
    package static let messageBytes = 64 << 10
    /// Top-level items in one offer. A folder is one item with all its contents.
    package static let items = 10_000
    /// Files, folders and links in one item.
    package static let entriesPerItem: UInt64 = 16 << 20
    /// Bytes that each file, folder and link adds to its contents when the disk space of a peer's items is counted. ext4
    /// has one inode for so many bytes, if it was made as usual: a peer that fills the inodes has used as much as one that
    /// fills the blocks.
    package static let entryBytes: UInt64 = 16_384
    /// Bytes one item may announce.
    package static let itemBytes: UInt64 = 1 << 60
    /// Bytes in the name a peer gives itself.
    package static let peerNameBytes = 63
    /// Bytes of the annotation (and of a note, which is part of it).
    package static let annotationBytes = 16 << 10
    /// Bytes of the preview of one item, and of those of an offer.
    package static let previewBytes = 32 << 10
    package static let previewsBytes = 512 << 10
    /// Items of an offer that may have a preview: its first ones.
    package static let previews = 16
    /// Width and height of a preview.
    package static let previewPixels: UInt32 = 512
    /// Bytes of the previews in all offers that wait for an answer, and in those of strangers together.
    package static let waitingPreviewBytes = 4 << 20
    package static let waitingPreviewBytesOfStrangers = 1 << 20
    /// Bytes of one frame's contents.
    package static let frameBytes = 1 << 20
    /// Bytes of a frame that is not contents.
    package static let headerFrameBytes = 16 << 10

    /// Bytes of the list of kept files of a transfer's items: enough for some 113,000 files of a block each. Both sides
    /// hold it whole.
    package static let keptListBytes = 4 << 20
    /// Blocks of one file in such a list: larger than 16 GiB, a file has larger blocks.
    package static let keptBlocks: UInt64 = 16_384
    /// Bytes of the smallest block, as a power of two.
    package static let keptBlockExponent = 20

    // Strangers together can take a part of each of the following; the rest is reserved for contacts. New keys cost
    // nothing, so "one stranger" is one key, and also all strangers of one address (`AddressKey`).

    /// Offers of one peer that may wait for consent at the same time.
    package static let waitingOffersPerPeer = 4
    /// Offers that may wait for consent in all, of strangers together, and of one stranger.
    package static let waitingOffers = 64
    package static let waitingOffersOfStrangers = 32
    package static let waitingOffersPerStranger = 16
    /// Transfers accepted for one peer and not finished.
    package static let openTransfersPerPeer = 16
    /// The same in all, of strangers together, and of one stranger.
    package static let openTransfers = 1_024
    package static let openTransfersOfStrangers = 512
    package static let openTransfersPerStranger = 128
    /// Items in all offers that wait, are accepted or are being received; in those of strangers together, and of one.
    package static let openItems = 40_000
    package static let openItemsOfStrangers = 20_000
    package static let openItemsPerStranger = 10_000
    /// The same of one peer: a contact leaves half of them to the others.
    package static let openItemsPerPeer = 20_000
    /// Transfers whose contents are being received at the same time: each has a thread.
    package static let contentThreads = 64
    package static let contentThreadsOfStrangers = 48
    package static let contentThreadsPerStranger = 16
    /// Groups in which this machine passes contents on at the same time: each has 8 MiB and three threads. The second number
    /// is the part of strangers.
    package static let groups = 2
    package static let groupsOfStrangers = 1
    /// Finished transfers whose receipt can be asked for again.
    package static let rememberedReceipts = 1_024
    /// Items in all remembered receipts.
    package static let rememberedItems = 40_000

    /// How long an offer waits for consent.
    package static let consentWait: Duration = .seconds(110)
    /// How long an accepted transfer waits for its contents to begin.
    package static let contentsWait: Duration = .seconds(60)
    /// How long it waits after the connection of its offer has closed: its contents may come on another one.
    package static let departedWait: Duration = .seconds(5)
    /// How long nothing may arrive in the middle of a message.
    package static let silence: Duration = .seconds(60)
    /// How often a receiver that works on contents for long shows that it is alive.
    package static let signOfLife: Duration = .seconds(15)
    /// How long a receiver that has answered waits for the sender to end the stream of contents.
    package static let lingering: Duration = .seconds(2)
    /// How long a contact's connection may be idle between requests, and any connection during a pairing.
    package static let idleConnection: Duration = .seconds(120)
    /// The same for a stranger's connection.
    package static let idleStranger: Duration = .seconds(30)
    /// The same for a stranger's connection after a request that was refused.
    package static let idleRefused: Duration = .seconds(10)

    // The longest waits of a sender. Interim answers of the receiver do not extend them.

    /// How long a sender waits for the answer to an offer: longer than `consentWait`.
    package static let offerAnswer: Duration = .seconds(130)
    /// How much longer it waits for the receiver's word that nobody has answered in that time.
    package static let answerGrace: Duration = .seconds(1)
    /// How long a sender waits while the receiver takes no contents, and for the receipt after the last of them: a
    /// receiver reads kept files again and syncs new ones. `work` is added.
    package static let stall: Duration = .seconds(600)
    /// Bytes of contents for which a sender waits another second: the receiver may read all of them from a slow disk.
    package static let workBytesPerSecond: UInt64 = 4 << 20
    /// How long a sender that wants the handlers' answers waits for them, for each item and in addition to `stall`.
    package static let handlerWait: Duration = .seconds(60)

    /// How long a receiver may take to read or to write contents.
    package static func work(on bytes: UInt64) -> Duration { .seconds(Int64(bytes / workBytesPerSecond)) }
}
