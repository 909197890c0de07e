package import Sharing

/// Something failed: a command, one of its words, or a sending.
package struct FailedLine: Line {
    package static let event = "failed"

    /// The word of the command line to which a failure belongs.
    package enum Subject: Sendable {
        case path(String)
        case job(Int)
        case item(ItemName)
        /// A word that names no item.
        case wanted(String)
    }

    package let reason: String
    /// Advice after a failure.
    package let hint: String?
    /// Further reasons, in the form of `reason`.
    package let others: [String]?
    package let exit: WaftExit
    package private(set) var path: String?
    package private(set) var job: Int?
    package private(set) var arrival: Int64?
    package private(set) var name: String?
    package private(set) var stored: String?
    package private(set) var wanted: String?
    /// Of a sending without a report: the value of `--to`, and why it ended.
    package var to: String?
    package var cause: EndCause?

    /// - Parameter subject: nil for the failure of the command.
    package init(
        _ exit: WaftExit, _ reason: String, hint: String? = nil, others: [String] = [], of subject: Subject? = nil
    ) {
        (self.exit, self.reason, self.hint) = (exit, reason, hint)
        self.others = others.isEmpty ? nil : others
        switch subject {
        case .path(let path): self.path = path
        case .job(let job): self.job = job
        case .item(let item): (arrival, name, stored, path) = (item.arrival, item.name, item.stored, item.path)
        case .wanted(let word): wanted = word
        case nil: break
        }
    }
}

/// A window of the desk can be opened.
package struct WindowLine: Line {
    package static let event = "desk"

    /// Of the pages, on the loopback interface.
    package let port: Int
    /// Good for one use; only with `--no-open`.
    package let url: String?

    package init(port: Int, url: String?) { (self.port, self.url) = (port, url) }
}
