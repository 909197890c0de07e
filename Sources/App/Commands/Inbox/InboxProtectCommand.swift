import ArgumentParser
import Sharing

/// `waft inbox protect`.
struct InboxProtectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "protect",
        abstract: "Seal an item that is in the Inbox, or seal it in another class.",
        discussion: """
            Example: waft inbox protect 12 unlessOpen

            The running receiver writes the item sealed, reads it back, and puts it in the place of the old one. Of a folder each \
            file is sealed by itself, and the folder changes as a whole. Exit code 15 if a handler still reads the item after five \
            seconds, 17 if it was changed since it arrived, 18 while locked. The disk may still hold the bytes that were open before.
            """
    )

    @Argument(help: ArgumentHelp("Number or name of an item.", valueName: "item"), completion: .inboxItems)
    var item: String

    @Argument(
        help: ArgumentHelp("untilFirstUnlock, unlessOpen or complete.", valueName: "class"),
        completion: .list(ProtectionClass.allCases.filter(\.isSealed).map(\.rawValue)))
    var protection: String

    @OptionGroup var readers: ReaderOptions

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard ProtectionClass(rawValue: protection)?.isSealed == true else {
            throw ValidationError(
                "The class is untilFirstUnlock, unlessOpen or complete. To open an item: waft inbox unprotect")
        }
    }

    func run() async throws {
        _ = try ProtectionPlace().existingRecipients()
        try await ItemResealing.change(item, to: protection, now: readers.now, json: output.json)
    }
}
