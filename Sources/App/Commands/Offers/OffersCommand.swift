import ArgumentParser
import Control

/// `waft offers`: the offers that wait for consent.
struct OffersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "offers",
        abstract: "List the offers that wait for an answer.",
        discussion: """
            Example: waft offers, then waft accept 1; waft offers preview 1.2 shows the small picture of an item

            The list shows the first \(OfferSummary.shownItems) items of each offer; waft offers 1 shows every item of offer 1. \
            waft offers --watch shows new offers, their answers and their results until Ctrl-C; with --json also \
            progress, in the events of waft receive --json. waft transfers shows what moves now; waft offers cancel is short for \
            waft transfers cancel. Exit code 69 if no receiver is running, or when it ends.
            """,
        subcommands: [OffersListCommand.self, OfferPreviewCommand.self, TransfersCancelCommand.self],
        defaultSubcommand: OffersListCommand.self
    )
}
