/// An offer without its ineligible items, which no answer of the user can admit.
struct EligibleOffer {
    /// The offer with only the eligible items.
    let rest: Offer
    /// For each item of the whole offer the reason why it is ineligible, or nil; nil if all items are eligible.
    private let refusals: [String?]?

    init(_ offer: Offer, _ refusal: (OfferedItem) -> String?) {
        let refusals = offer.items.map(refusal)
        var rest = offer
        if refusals.contains(where: { $0 != nil }) {
            rest.items = zip(offer.items, refusals).filter { $0.1 == nil }.map(\.0)
            self.refusals = refusals
        } else {
            self.refusals = nil
        }
        self.rest = rest
    }

    /// Whether the offer is refused without a question: no item is eligible, or one is not and the sender wants all or
    /// none.
    var isRefused: Bool { refusals != nil && (rest.items.isEmpty || !rest.takesPart) }

    /// The verdicts on all items.
    /// - Parameter answers: the verdicts on `rest`, in its order; ignored if `isRefused`.
    func verdicts(_ answers: [ItemVerdict]) -> [ItemVerdict] {
        guard let refusals else { return answers }
        if isRefused { return refusals.map { ItemVerdict(.ineligible, reason: $0 ?? ItemVerdict.leftOut.reason) } }
        var answers = answers[...]
        return refusals.map { $0.map { ItemVerdict(.ineligible, reason: $0) } ?? answers.popFirst() ?? .leftOut }
    }
}
