import Lines

/// Lines that both sides of a transfer print.
extension EventLine {
    struct Answered: FieldGroups {
        var to: String
        var answers: Answers

        var groups: [any Encodable] { [["to": to], answers] }
    }

    struct Progress: FieldGroups {
        var to: String
        var course: Course

        var groups: [any Encodable] { [["to": to], course] }
    }

    enum Stored: FieldGroups {
        case sent(SentItem, SentCopy, Findings)
        /// The command waited for a handler, which did not say yes.
        case sentUnopened(SentItem, SentCopy, Findings, ExitReason)

        var groups: [any Encodable] {
            switch self {
            case .sent(let item, let copy, let findings): [item, copy, findings]
            case .sentUnopened(let item, let copy, let findings, let reason): [item, copy, findings, reason]
            }
        }
    }

    enum Opened: FieldGroups {
        case sent(SentItem, SentCopy, Findings)
        /// By `waft inbox open`.
        case onDesktop(Subject, WaftExit)
        /// By an application that the user chose.
        case inApplication(Subject, application: String)
        /// By a handler that the user chose.
        case inHandler(Subject, handler: String, HandlerReply)
        case url(URLResult.Opened)

        var groups: [any Encodable] {
            switch self {
            case .sent(let item, let copy, let findings): [item, copy, findings]
            case .onDesktop(let item, let exit): [item, ["exit": exit]]
            case .inApplication(let subject, let application):
                [subject, ["application": application], ["exit": WaftExit.done]]
            case .inHandler(let subject, let handler, let reply):
                [subject, ["handler": handler], reply, ["exit": WaftExit.done]]
            case .url(let outcome): [outcome]
            }
        }
    }

    struct Done: Encodable {
        /// Of the command.
        var exit: WaftExit
    }
}
