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
            waft offers --watch shows new offers and their results until Ctrl-C; with --json also stored and opened \
            items, in the events of waft receive --json. waft offers cancel cancels a transfer that is arriving. Exit code 69 if no receiver is running, or when it ends.
            """,
        subcommands: [OffersListCommand.self, OfferPreviewCommand.self, OfferCancelCommand.self],
        defaultSubcommand: OffersListCommand.self
    )
}
