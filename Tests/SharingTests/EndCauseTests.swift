import Sharing
import Testing

@Suite("The cause of an end")
struct EndCauseTests {
    @Test(
        "each answer has a usual cause, and an acceptance has none",
        arguments: [
            (ItemVerdict.Answer.accepted, EndCause?.none), (.declined, .user), (.ineligible, .rule), (.noRoom, .fault),
            (.busy, .rule), (.expired, .timeout),
        ])
    func answers(answer: ItemVerdict.Answer, cause: EndCause?) {
        #expect(ItemVerdict(answer).cause == cause)
        #expect(ItemVerdict(answer, cause: .receiverStopped).cause == .receiverStopped)
    }

    @Test("only a stop of the receiver and a cancellation have other usual causes than a fault or a rule")
    func faults() {
        for code in TransferError.Code.allCases {
            let cause: EndCause =
                switch code {
                case .cancelled: .user
                case .stopping: .receiverStopped
                case .notAccepted: .rule
                default: .fault
                }
            #expect(TransferError(code, "x").cause == cause)
        }
    }

    @Test(
        "a transfer that ends for a cause has its words, and a code with which it can be resumed unless a rule ended it"
    )
    func ending() {
        for cause in EndCause.allCases {
            let fault = TransferError(ending: cause)
            #expect((fault.cause, fault.message) == (cause, cause.words))
            #expect(fault.isResumable == (cause != .rule))
        }
    }

    @Test("only the sender's own end is called one, and no two causes have the same words")
    func words() {
        #expect(EndCause.allCases.filter { $0.words.contains("cancelled") } == [.senderCancelled])
        #expect(Set(EndCause.allCases.map(\.words)).count == EndCause.allCases.count)
    }

    @Test("a private rule is a rule here, and cannot be distinguished from a person's no by the sender")
    func privateRule() {
        #expect(ItemVerdict.privateRule.cause == .rule)
        #expect(ItemVerdict.privateRule.causeForSender == ItemVerdict.no.causeForSender)
        #expect(ItemVerdict.privateRule.reason == ItemVerdict.no.reason)
        #expect(ItemVerdict(.declined, reason: "nothing is accepted here", cause: .rule).causeForSender == .rule)
    }
}
