/// The rules of a reception beside those of its gate.
package struct ReceptionRules: Sendable {
    /// Nil if every item can be sent here.
    package var eligibility: (any ItemEligibility)?
    /// How much one stranger may send; nil for no bound.
    package var quota: StrangerQuota?
    /// How long an offer waits for an answer.
    package var consentWait: Duration
    /// How long an accepted transfer waits for its contents after the connection of its offer has closed.
    package var departedWait: Duration
    /// The peers whose previews are shown, asked for at each offer.
    package var previews: @Sendable () -> PreviewRule

    package init(
        eligibility: (any ItemEligibility)? = nil, quota: StrangerQuota? = nil,
        consentWait: Duration = Limits.consentWait, departedWait: Duration = Limits.departedWait,
        previews: @escaping @Sendable () -> PreviewRule = { .contacts }
    ) {
        (self.eligibility, self.quota, self.previews) = (eligibility, quota, previews)
        (self.consentWait, self.departedWait) = (consentWait, departedWait)
    }
}
