/// What is left of an offer without the items that cannot be sent here whatever anybody says.
struct EligibleOffer {
    /// With the eligible items alone.
    let rest: Offer
    /// For each item of the whole offer why it is not eligible, and nil where it is; nil where all are.
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

    /// Whether nothing is taken, and nobody is asked: nothing is eligible, or all of it was to be taken and not all is.
    var isRefused: Bool { refusals != nil && (rest.items.isEmpty || !rest.takesPart) }

    /// The verdicts on all items.
    /// - Parameter answers: those on the rest, in its order; where that is refused they are left out.
    func verdicts(_ answers: [ItemVerdict]) -> [ItemVerdict] {
        guard let refusals else { return answers }
        if isRefused { return refusals.map { ItemVerdict(.ineligible, reason: $0 ?? ItemVerdict.leftOut.reason) } }
        var answers = answers[...]
        return refusals.map { $0.map { ItemVerdict(.ineligible, reason: $0) } ?? answers.popFirst() ?? .leftOut }
    }
}
