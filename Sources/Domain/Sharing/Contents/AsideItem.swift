/// A tree that waits for its next file.
final class AsideItem {
    let staged: any StagedItem
    var listing: ListingSums?

    init(_ staged: any StagedItem, _ listing: consuming ListingSums?) {
        self.staged = staged
        self.listing = listing
    }
}
