/// How a user wants something sent.
package struct SendOptions: Sendable {
    package enum Wait: String, Sendable, CaseIterable {
        /// Until the other side has stored it.
        case stored
        /// Until its handlers have answered too.
        case opened
    }

    package var wait: Wait = .stored
    package var annotation: [String: String] = [:]
    /// Whether what can be sent is sent when other items cannot.
    package var takesPart = false
    /// The only key that gets anything; nil if the name or address decides.
    package var expected: PeerID?
    /// How long to look for the peer.
    package var finding: Duration = .seconds(5)
    /// How long nothing may listen at the peer's address: its receiver may be about to start.
    package var starting: Duration = .seconds(2)
    /// How long to wait for consent; at most `Limits.offerAnswer`.
    package var answer = Limits.offerAnswer
    /// How long the other side may be silent.
    package var silence: Duration = .seconds(60)
    /// How long the other side may make no progress with contents or handlers while it reports that it is working.
    /// `Limits.work` and `Limits.handlerWait` are added.
    package var stall = Limits.stall
    /// How long to retry without progress: to repeat an offer while the receiver is busy, and to resume an accepted
    /// transfer after the connection was lost or the receiver could not continue.
    package var retryFor: Duration = .seconds(60)
    /// Whether to repeat an offer to a busy receiver. The outbox repeats it after its own pauses.
    package var waitsForTurn = true

    /// How long the handlers of each item may take.
    package var handlers = Limits.handlerWait

    /// How long to wait for the handlers of `items` items.
    package func handlerWait(items: Int) -> Duration { stall + handlers * items }

    /// The PIN that the receiver asks for, where its dialect has one; nil for none.
    package var pin: String?
    /// Whether items are sent without encryption to a receiver that has none, where its dialect allows that.
    package var plain = false

    /// Whether several receivers of the same items may pass them on to each other; otherwise each gets a stream of its own.
    package var relays = true

    /// The number under which it is offered; nil for a new one.
    package var transfer: TransferID?

    package init() {}
}
