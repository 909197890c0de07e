import ArgumentParser
import Control
import Endpoints
import Inbox
import Journal
import Lines
import Settings
import Sharing

/// `waft inbox adopt`.
struct InboxAdoptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "adopt",
        abstract: "Use the folder at the Inbox's path as the Inbox.",
        discussion: """
            Example: waft inbox adopt

            Waft stores nothing in a folder that it does not recognize as the Inbox: perhaps the disk with the Inbox is not \
            mounted. Mount it, and Waft receives again. Run this command only to start a new Inbox, on another disk or in a \
            new folder.
            """
    )

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let home = try CommandContext.forgiving.home
        switch try await Daemon.askIfRunning(.adoptInbox) {
        case .done: break
        case .refused(let reason): throw CommandError(.unexpected, TerminalText.escaped(reason, limit: 400))
        case nil: try Self.adopt(home)
        default: throw CommandError(.unexpected, "the receiver gave no answer")
        }
        if output.json {
            return EventLine.adopted(EventLine.Adopted(inbox: home.inbox)).print()
        }
        Console.shared.result("the Inbox is \(TerminalText.escaped(home.inbox, limit: 400)) now")
    }

    private static func adopt(_ home: Home) throws(CommandError) {
        do {
            try FileInbox.adopt(home.inbox, memory: try Journal(folder: home.state, dialects: .known))
        } catch {
            throw CommandError(.unexpected, TerminalText.escaped("\(error)", limit: 400))
        }
    }
}
