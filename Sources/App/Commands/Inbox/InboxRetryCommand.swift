import ArgumentParser
import Lines
import Sharing

/// `waft inbox retry`: ask handlers again.
struct InboxRetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Give items to their handlers again, and wait for the answers.",
        discussion: """
            Example: waft inbox retry 12, or: waft inbox retry --state failed

            A handler that says no or later, or fails, is exit code 16. Ctrl-C ends the wait, and the receiver goes on; with \
            --no-wait the command ends at once. 69 if no receiver is running.
            """
    )

    @Argument(
        help: ArgumentHelp("Numbers of items, as waft inbox shows them, or their names.", valueName: "item"),
        completion: .inboxItems)
    var arrivals: [String] = []

    @OptionGroup var selection: SelectionOptions

    @Flag(name: .long, help: "Do not wait for the answers of the handlers.")
    var noWait = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        try selection.check(hasWords: !arrivals.isEmpty)
    }

    func run() async throws {
        let context = try CommandContext.forgiving
        let items = try selection.items(arrivals, context)
        if selection.dryRun { throw ChosenItem.show(items, context.people, json: output.json).code }
        let retrying = Retrying(context: context, json: output.json)
        let exit = noWait ? try await retrying.begin(items) : try await retrying.finish(items)
        if exit != .done { throw exit.code }
    }
}
