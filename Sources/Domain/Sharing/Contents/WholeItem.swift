import ContentCheck
import Digests

/// An item that has arrived whole and waits for the commit of its batch.
struct WholeItem {
    var number: Int
    var staged: any StagedItem
    var bytes: UInt64
    var entries: UInt64
    /// Of the contents, by `DigestAlgorithm.lasting`; of a tree in byte order, unless it is sealed.
    var digest: Digest
    /// The digest that the sender knows; see `ArrivalFacts.sentDigest`.
    var sentDigest: Digest
    /// See `ArrivalFacts.ownDigest`.
    var ownDigest: Digest?
    /// Nil for an item that is not sealed.
    var sealed: SealedDigests?
    var content: ContentVerdict?
    /// Why a part of a tree is missing: then it has another name, and no handler gets it.
    var lack: TransferError?
    /// Whether it was looked into and labelled; see `prepare`.
    var isPrepared = false
    /// The reason for which `prepare` refuses it; nil if it can be stored.
    var refusal: TransferError?
}
