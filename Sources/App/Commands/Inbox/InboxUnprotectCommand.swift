import ArgumentParser
import Sharing

/// `waft inbox unprotect`.
struct InboxUnprotectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unprotect",
        abstract: "Open a sealed item in the Inbox for good.",
        discussion: """
            Example: waft inbox unprotect 12

            The running receiver writes the item open, reads it back, and puts it in the place of the sealed one. Exit code 15 if \
            a handler still reads the item after five seconds, 17 if it was changed since it arrived, 18 while locked.
            """
    )

    @Argument(help: ArgumentHelp("Number or name of an item.", valueName: "item"), completion: .inboxItems)
    var item: String

    @OptionGroup var readers: ReaderOptions

    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await ItemResealing.change(item, to: ProtectionClass.none.rawValue, now: readers.now, json: output.json)
    }
}
