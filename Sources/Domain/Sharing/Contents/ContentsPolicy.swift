/// How strictly the contents of a transfer follow its offer.
struct ContentsPolicy: Sendable {
    enum Commits: Sendable {
        /// Many small items at once; a large one does not wait for the next ones.
        case inBatches
        case itemByItem
        /// All items at once. The sender has no answers to single items: it takes a fault for all of them, and none is
        /// stored if one of them cannot be.
        case allOrNone
    }

    /// Whether items come in the order of the offer, and no accepted one is left out.
    let isInOrder: Bool
    /// Whether an offered size is exact; otherwise it is a maximum.
    let sizesAreExact: Bool
    /// Whether each file is a request of its own: an item can be set aside for its next file, a dropped file or item
    /// may come again, and an item may never come.
    let filesAreRequests: Bool
    let commits: Commits
    /// Whether the sender's digest covers the executable bits of a tree. Otherwise a tree that was accepted because of
    /// its type loses them: that is no consent to run it.
    let digestsCoverModes: Bool
}

extension OfferBinding {
    var policy: ContentsPolicy {
        switch self {
        case .exact:
            ContentsPolicy(
                isInOrder: true, sizesAreExact: true, filesAreRequests: false, commits: .inBatches,
                digestsCoverModes: true)
        case .announced:
            ContentsPolicy(
                isInOrder: false, sizesAreExact: false, filesAreRequests: false, commits: .allOrNone,
                digestsCoverModes: false)
        case .scattered:
            // Its files never come with an executable bit.
            ContentsPolicy(
                isInOrder: false, sizesAreExact: true, filesAreRequests: true, commits: .itemByItem,
                digestsCoverModes: true)
        }
    }
}
