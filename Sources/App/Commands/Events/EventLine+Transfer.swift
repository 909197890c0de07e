import Lines

/// Lines that both sides of a transfer print.
extension EventLine {
    enum Answered: FieldGroups {
        case sent(to: String, Answers)
        /// - Parameters:
        ///   - offer: the number of an offer that has waited, for watchers.
        ///   - items: those of an offer that has not waited, for watchers: they have heard of no offer.
        case received(offer: Int?, Sender, items: [Item]? = nil, Answers)

        var groups: [any Encodable] {
            switch self {
            case .sent(let peer, let answers): [["to": peer], answers]
            case .received(let number, let sender, let items, let answers):
                [number.map { ["offer": $0] }, sender, items.map { ["items": $0] }, answers].compactMap { $0 }
            }
        }
    }

    enum Progress: FieldGroups {
        case sent(to: String, Course)
        case received(Transfer, Course)

        var groups: [any Encodable] {
            switch self {
            case .sent(let peer, let course): [["to": peer], course]
            case .received(let transfer, let course): [transfer, course]
            }
        }
    }

    enum Stored: FieldGroups {
        case sent(SentItem, SentCopy, Findings)
        /// The command waited for a handler, which did not say yes.
        case sentUnopened(SentItem, SentCopy, Findings, ExitReason)
        case received(Arrived)

        var groups: [any Encodable] {
            switch self {
            case .sent(let item, let copy, let findings): [item, copy, findings]
            case .sentUnopened(let item, let copy, let findings, let reason): [item, copy, findings, reason]
            case .received(let arrival): [arrival]
            }
        }
    }

    enum Opened: FieldGroups {
        case sent(SentItem, SentCopy, Findings)
        case received(Arrived, HandlerReply)
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
            case .received(let arrival, let reply): [arrival, reply]
            case .onDesktop(let item, let exit): [item, ["exit": exit]]
            case .inApplication(let subject, let application):
                [subject, ["application": application], ["exit": WaftExit.done]]
            case .inHandler(let subject, let handler, let reply):
                [subject, ["handler": handler], reply, ["exit": WaftExit.done]]
            case .url(let outcome): [outcome]
            }
        }
    }

    enum Done: FieldGroups {
        private struct Failures: Encodable {
            var reason: String?
        }

        /// The last line of a command that ends.
        case command(WaftExit)
        /// - Parameter failures: why some of the items were not stored.
        case transfer(Transfer, failures: String?)

        var groups: [any Encodable] {
            switch self {
            case .command(let exit): [["exit": exit]]
            case .transfer(let transfer, let failures): [transfer, Failures(reason: failures)]
            }
        }
    }
}
