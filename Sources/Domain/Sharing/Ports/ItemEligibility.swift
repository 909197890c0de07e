/// Knows the items that can never be sent here.
package protocol ItemEligibility: Sendable {
    /// Why an item can never be sent here (no document type covers it), in one line; nil if it can be sent. Decides
    /// without waiting.
    func refusal(of item: OfferedItem) -> String?
}
