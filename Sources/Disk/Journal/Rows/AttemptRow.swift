import ContentCheck
import Digests
import GRDB
import Sharing
import UniformTypes

/// One call of a handler.
enum AttemptRow {
    static let columns = "number, handler, began, asked, ended, answer, exit_code, signal, reason, standard_error"

    /// Maximum number of bytes kept of an attempt's reason.
    static let reasonBytes = 1_024

    static func attempt(_ row: Row, of arrival: ArrivalNumber) throws(UnreadableRowError) -> JournalAttempt {
        var columns = ColumnReader(row, "arrival \(arrival), attempt")
        var attempt = JournalAttempt(
            number: try columns.count("number", least: 1), handler: try columns.text("handler"),
            began: WallTime(milliseconds: try columns.integer("beginning")),
            isAsked: try columns.integer("request") != 0,
            ended: try columns.optionalInteger("end").map(WallTime.init(milliseconds:)), outcome: nil)
        guard attempt.ended != nil else { return attempt }
        attempt.outcome = AttemptOutcome(
            try columns.text("answer", AttemptOutcome.Answer.init(rawValue:)),
            exitCode: try columns.optionalInt("exit code"), signal: try columns.optionalInt("signal"),
            reason: try columns.text("reason"), standardError: try columns.text("standard error"))
        return attempt
    }
}
