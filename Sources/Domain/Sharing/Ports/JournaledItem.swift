/// The place of an item in the Inbox according to the journal, and the signs by which the item is found at another one.
package struct JournaledItem: Hashable, Sendable {
    package var number: ArrivalNumber
    package var stored: StoredItem
    package var identity: FileIdentity
    package var transfer: TransferID
    package var kind: ItemKind
    /// Whether its name on the disk has the ending of sealed files.
    package var isSealedFile: Bool

    package init(
        number: ArrivalNumber, stored: StoredItem, identity: FileIdentity, transfer: TransferID, kind: ItemKind,
        isSealedFile: Bool
    ) {
        (self.number, self.stored, self.identity) = (number, stored, identity)
        (self.transfer, self.kind, self.isSealedFile) = (transfer, kind, isSealedFile)
    }
}
