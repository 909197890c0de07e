import ArgumentParser
import Contacts
import Control
import Endpoints
import HandlerCatalog
import Journal
import Settings
import Sharing
import UniformTypes

/// A verb about contacts, visibility or rules. It returns a report, and does not print it.
protocol ContactsVerb: AsyncParsableCommand {
    /// Whether it is about rules of the settings. The others go on without settings that have faults.
    var isAboutRules: Bool { get }
    func report(on place: ContactsPlace) throws(CommandError) -> VerbReport
    /// Called after a change if no receiver is running.
    func sayThatNoneRuns()
}

extension ContactsVerb {
    mutating func run() async throws { try await carryOut() }

    var isAboutRules: Bool { false }

    func sayThatNoneRuns() {}

    func carryOut() async throws {
        let report = try report(on: ContactsPlace(try CommandContext(isForgiving: !isAboutRules)))
        report.show()
        if report.isChange, await !Daemon.tell(.lookAgain) { sayThatNoneRuns() }
    }
}
