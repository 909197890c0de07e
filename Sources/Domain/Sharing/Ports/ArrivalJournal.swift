/// The arrivals, across crashes. An arrival is recorded with its delivery before it can be seen in the Inbox, and its
/// name when that is known. The next start repairs a crash between the two by `FileIdentity`.
///
/// All calls may block on the disk, and are made from threads that may.
package protocol ArrivalJournal: Sendable {
    /// Records the items that are about to be moved into the Inbox, in one transaction that is on the disk when this
    /// returns.
    /// - Returns: a number for each, in order, rising.
    /// - Throws: `storage` or `noRoom`; then nothing is recorded.
    func intend(_ arrivals: [IntendedArrival]) throws(TransferError) -> [ArrivalNumber]
    /// Records, in one transaction, that an item of the Inbox was sent again: an arrival of its own, with the place of the
    /// item, that leaves the Inbox with it.
    /// - Parameters:
    ///   - holder: the arrival that stored the item.
    ///   - isDelivered: whether handlers are to be asked.
    /// - Throws: `notKept` if that item has left the Inbox; `storage` or `noRoom`; then nothing is recorded.
    func sendAgain(
        _ facts: ArrivalFacts, of holder: ArrivalNumber, isDelivered: Bool
    ) throws(TransferError) -> Arrival
    /// The settled arrivals of a transfer, by number.
    func arrivals(of transfer: TransferID, from peer: PeerID) throws(JournalError) -> [Arrival]
    /// Those of the names that a settled arrival from a peer has: only items with these can have `earlier` ones. One read for
    /// an offer of thousands.
    func known(_ names: Set<SafeName>, from peer: PeerID) throws(JournalError) -> Set<SafeName>
    /// Settled arrivals from a peer of the same kind, name, size and entries as an item, the latest first; of
    /// an item that was sent again only the latest one. With very many of them, only the latest are looked at.
    /// - Parameter limit: maximum number of arrivals.
    func earlier(_ item: OfferedItem, from peer: PeerID, limit: Int) throws(JournalError) -> [Arrival]
    /// The state of an arrival's delivery; nil for an unknown number.
    func deliveryState(of number: ArrivalNumber) throws(JournalError) -> DeliveryState?
    /// Records the results in one transaction: the place of each item, or nil if it could not be moved and is
    /// forgotten.
    /// - Throws: as `intend`. The items stay in their places, and are found again at the next start.
    func settle(_ outcomes: [(number: ArrivalNumber, stored: StoredItem?)]) throws(TransferError)
}

/// An item that is about to be moved into the Inbox.
package struct IntendedArrival: Sendable {
    package var facts: ArrivalFacts
    /// Nil if the Inbox has no identities; then it cannot be found again after a crash.
    package var identity: FileIdentity?
    /// Whether handlers are to be asked.
    package var isDelivered: Bool

    package init(facts: ArrivalFacts, identity: FileIdentity?, isDelivered: Bool) {
        self.facts = facts
        self.identity = identity
        self.isDelivered = isDelivered
    }
}

/// An arrival that an earlier process intended and never settled.
package struct UnsettledArrival: Sendable {
    package var number: ArrivalNumber
    package var identity: FileIdentity?
    /// Its intended name, and the folder below the Inbox; nil for the Inbox itself.
    package var name: SafeName
    package var folder: SafeRelativePath?
    /// Whether it is a sealed file, which its name on the disk shows.
    package var isSealedFile: Bool

    package init(
        number: ArrivalNumber, identity: FileIdentity?, name: SafeName, folder: SafeRelativePath?,
        isSealedFile: Bool = false
    ) {
        self.number = number
        self.identity = identity
        self.name = name
        self.folder = folder
        self.isSealedFile = isSealedFile
    }
}
