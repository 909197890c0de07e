import Lines
import Sharing
import UniformTypes

extension EventLine {
    typealias Peer = PersonFields

    struct Answers: Encodable {
        /// The answers to the first `shownItems`.
        var answers: [AnswerFields]
        var acceptedCount: Int
        /// Of all items.
        var count: Int
    }

    /// Bytes moved so far, and in all.
    struct Course: Encodable {
        var bytes: UInt64
        var total: UInt64?
    }

    /// Why a part of a command failed, and its exit code.
    struct ExitReason: Encodable {
        var reason: String
        var cause: EndCause?
        var exit: WaftExit
    }

    /// The answer of a handler.
    struct HandlerReply: Encodable {
        var handlerAnswer: String
        var exitCode: Int?
    }
}

extension EventLine.Answers {
    init(_ verdict: Verdict) {
        (acceptedCount, count) = (verdict.items.count { $0.answer == .accepted }, verdict.items.count)
        answers = AnswerFields.first(of: verdict.items, reason: \.reason)
    }
}
