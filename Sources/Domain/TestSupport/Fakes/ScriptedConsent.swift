package import Sharing

/// Gives the answers that the test sets, and records the questions.
package final class ScriptedConsent: ConsentAsking {
    package enum Answer: Sendable {
        /// Yes to all.
        case accept
        /// No to all.
        case decline
        /// Item by item: as many answers as the offer has items, or a wrong number to test that case.
        case items([ItemVerdict])
        /// No answer: waits until the question is withdrawn.
        case never
        /// Waits until `answer` is called, or the question is withdrawn.
        case later
    }

    package struct Question: Sendable {
        package var offer: Offer
        package var peer: PeerID
        package var freeRoom: UInt64
    }

    /// The questions asked, in order.
    package let asked = Recorder<Question>()
    /// The transfers whose question was withdrawn before it was answered.
    package let withdrawn = Recorder<TransferID>()

    private let script: Answer
    private let queue: ConsentQueue

    package init(_ script: Answer) {
        self.script = script
        // Recorded once it waits: a test that sees it in `asked` can answer it.
        queue = ConsentQueue(rule: .ask) { [asked] waiting in
            asked.record(Question(offer: waiting.offer, peer: waiting.peer, freeRoom: waiting.freeRoom))
        }
    }

    package func consent(
        to offer: Offer, from peer: PeerID, freeRoom: UInt64, waits: @escaping @Sendable () -> Void
    ) async -> [ItemVerdict] {
        let verdicts: [ItemVerdict]
        switch script {
        case .accept: verdicts = Array(repeating: .accepted, count: offer.items.count)
        case .decline: verdicts = Array(repeating: ItemVerdict(.declined, reason: "no"), count: offer.items.count)
        case .items(let answers): verdicts = answers
        case .never, .later:
            let answers = await queue.consent(to: offer, from: peer, freeRoom: freeRoom, waits: waits)
            if Task.isCancelled { withdrawn.record(offer.transfer) }
            return answers
        }
        asked.record(Question(offer: offer, peer: peer, freeRoom: freeRoom))
        return verdicts
    }

    /// Answers the offers that wait now.
    package func answer(accept: Bool) {
        guard case .later = script else {
            preconditionFailure("only a consent scripted to answer `.later` can be answered by hand")
        }
        for offer in queue.offers { queue.answer(offer.number, accept: accept) }
    }
}
