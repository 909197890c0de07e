package import Sharing

extension Reception {
    /// A reception whose rules and listener are written as closures.
    /// - Parameters:
    ///   - refusal: why an item can never be sent here; nil if it can be sent.
    ///   - observe: called for each event, from any thread.
    package convenience init(
        inbox: any InboxStoring, journal: any ArrivalJournal, gate: any OfferGating, consent: any ConsentAsking,
        delivery: any Delivering,
        refusal: @escaping @Sendable (OfferedItem) -> String? = { _ in nil },
        quota: StrangerQuota? = nil,
        consentWait: Duration = Limits.consentWait,
        departedWait: Duration = Limits.departedWait,
        memory: ConsentMemory? = nil,
        observe: @escaping @Sendable (Event) -> Void
    ) {
        self.init(
            inbox: inbox, journal: journal, gate: gate, consent: consent, delivery: delivery, memory: memory,
            rules: ReceptionRules(
                eligibility: ScriptedEligibility(refuse: refusal), quota: quota, consentWait: consentWait,
                departedWait: departedWait),
            events: Listeners(observe))
    }
}

private struct ScriptedEligibility: ItemEligibility {
    let refuse: @Sendable (OfferedItem) -> String?

    func refusal(of item: OfferedItem) -> String? { refuse(item) }
}
