import ArgumentParser
import Control
import Endpoints
import Outbox
import Settings
import Sharing

/// Handles jobs one after another: each failure is reported, and the first decides the exit code.
enum OutboxEach {
    static func run(_ jobs: [Int], json: Bool, _ body: (Int) async throws(CommandError) -> Void) async throws {
        var first: CommandError?
        for job in jobs {
            do throws(CommandError) {
                try await body(job)
            } catch {
                json
                    ? EventLine(error, of: .job(job)).print() : Console.shared.note("waft: \(error.description)")
                first = first ?? error
            }
        }
        if let first { throw first.exit.code }
    }
}
