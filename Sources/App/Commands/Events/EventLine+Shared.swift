import Lines

extension EventLine {
    typealias Peer = PersonFields

    enum Opened: FieldGroups {
        /// By `waft inbox open`.
        case onDesktop(Subject, WaftExit)
        /// By an application that the user chose.
        case inApplication(Subject, application: String)
        /// By a handler that the user chose.
        case inHandler(Subject, handler: String, HandlerReply)
        case url(URLResult.Opened)

        var groups: [any Encodable] {
            switch self {
            case .onDesktop(let item, let exit): [item, ["exit": exit]]
            case .inApplication(let subject, let application):
                [subject, ["application": application], ["exit": WaftExit.done]]
            case .inHandler(let subject, let handler, let reply):
                [subject, ["handler": handler], reply, ["exit": WaftExit.done]]
            case .url(let outcome): [outcome]
            }
        }
    }

    /// The answer of a handler.
    struct HandlerReply: Encodable {
        var handlerAnswer: String
        var exitCode: Int?
    }
}
