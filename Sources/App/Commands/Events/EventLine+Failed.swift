import Lines
import Sharing

extension EventLine {
    enum Failed: FieldGroups {
        case command(Failure)
        /// A command goes on after the failure of one of its words.
        case part(Failure, of: Subject)
        /// A sending has no report.
        case sending(Failure, to: String, EndCause?)

        var groups: [any Encodable] {
            switch self {
            case .command(let failure): [failure]
            case .part(let failure, let subject): [failure, subject]
            case .sending(let failure, let peer, let cause): [failure, Sending(to: peer, cause: cause)]
            }
        }
    }

    private struct Sending: Encodable {
        var to: String
        var cause: EndCause?
    }

    /// The failure of a command, with its exit code.
    struct Failure: Encodable {
        var reason: String
        /// Advice after a failure.
        var hint: String?
        /// Further reasons, in the form of `reason`.
        var others: [String]?
        var exit: WaftExit

        init(_ failure: CommandError) {
            (reason, hint, exit) = (failure.message, failure.hint, failure.exit)
            others = failure.others.isEmpty ? nil : failure.others
        }
    }

    /// The word of the command line to which a failure belongs.
    enum Subject: FieldGroups {
        case path(String)
        case job(Int)
        case item(ItemName)
        /// A word that names no item.
        case wanted(String)

        var groups: [any Encodable] {
            switch self {
            case .path(let path): [["path": path]]
            case .job(let number): [["job": number]]
            case .item(let item): [item]
            case .wanted(let word): [["wanted": word]]
            }
        }
    }

    init(_ failure: CommandError) {
        self = .failed(.command(Failure(failure)))
    }

    init(_ failure: CommandError, of subject: Subject) {
        self = .failed(.part(Failure(failure), of: subject))
    }
}
