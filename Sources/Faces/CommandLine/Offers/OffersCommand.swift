import ArgumentParser
import Foundation
import Lines
import Operations
import Sharing

/// `waft offers`: the offers that wait for consent.
struct OffersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "offers",
        abstract: "List the offers that wait for an answer.",
        discussion: """
            Example: waft offers, then waft accept 1; waft offers preview 1.2 shows the small picture of an item

            The list shows the first \(shownItems) items of each offer; waft offers 1 shows every item of offer 1. \
            waft offers --watch shows new offers, their answers and their results until Ctrl-C; with --json also \
            progress, in the events of waft receive --json. waft transfers shows what moves now; waft offers cancel is short for \
            waft transfers cancel. Exit code 69 if no receiver is running, or when it ends.
            """,
        subcommands: [OffersListCommand.self, OfferPreviewCommand.self, TransfersCancelCommand.self],
        defaultSubcommand: OffersListCommand.self
    )
}

/// `waft offers list`: the offers that wait for consent.
struct OffersListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the offers that wait, or every item of one.")

    @Argument(
        help: ArgumentHelp("Number of one offer, to see every item of it.", valueName: "offer"), completion: .offers)
    var offer: Int?

    @Flag(name: .long, help: "Keep running, and show new offers and their results.")
    var watch = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard offer == nil || !watch else { throw ValidationError("--watch shows all offers: leave the number out") }
    }

    func run() async throws {
        if watch { return try await follow() }
        let offers = try await output.doing { waft throws(WaftError) in
            if let offer { [try await waft.offers.whole(offer)] } else { try await waft.offers.all() }
        }
        if offers.isEmpty { output.note("no offers wait for an answer") }
        for offer in offers { output.show(offer) }
    }

    /// Shows events until Ctrl-C, which is the normal end.
    private func follow() async throws {
        let output = output
        try await output.follow { event in output.show(event.line, as: OfferText.lines(event)) }
    }
}

/// `waft accept`.
struct AcceptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept",
        abstract: "Accept an offer, or some of its items.",
        discussion: "Example: waft accept 1, or: waft accept 1 --items 1,3 --to Photos/2026"
    )

    @Argument(
        help: ArgumentHelp("Number of the offer, as waft offers shows it.", valueName: "offer"), completion: .offers)
    var offer: Int?

    @Option(
        name: .long,
        help: ArgumentHelp("Items to accept, counted from 1; the others are declined.", valueName: "numbers"))
    var items: String?

    @Option(
        name: .long, help: ArgumentHelp("Folder below the Inbox for the items.", valueName: "dir"),
        completion: .directory)
    var to: String?

    @OptionGroup var output: OutputOptions

    func run() async throws {
        do {
            _ = try to.map { try SafeRelativePath($0) }
        } catch {
            let shown = TerminalText.escaped(to ?? "", limit: 64)
            throw CommandError(.usage, "--to: \"\(shown)\" is not a folder below the Inbox: \(error)")
        }
        let (numbers, folder) = (try numbers(), to)
        let offer = try await output.named(offer, verb: "accept")
        let line = try await output.doing { waft throws(WaftError) in
            try await waft.offers.accept(offer, items: numbers, into: folder)
        }
        output.show(line)
        for words in line.presentWords { output.note(words) }
    }

    /// - Returns: places in the offer, from 0; nil for all.
    private func numbers() throws(CommandError) -> [Int]? {
        guard let items else { return nil }
        let numbers = items.split(separator: ",", omittingEmptySubsequences: false).map { word in
            Int(word.trimmingCharacters(in: .whitespaces)) ?? 0
        }
        guard numbers.count <= Limits.items, numbers.allSatisfy({ (1...Limits.items).contains($0) }) else {
            throw CommandError(.usage, "--items is a list of numbers from 1, such as 1,3")
        }
        return numbers.map { $0 - 1 }
    }
}

/// `waft decline`.
struct DeclineCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decline",
        abstract: "Decline an offer.",
        discussion: "Example: waft decline 1, or: waft decline 1 --block"
    )

    @Argument(
        help: ArgumentHelp("Number of the offer, as waft offers shows it.", valueName: "offer"), completion: .offers)
    var offer: Int?

    @Flag(name: .long, help: "Block the sender: decline its other offers, now and later.")
    var block = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let (block, offer) = (block, try await output.named(offer, verb: "decline"))
        try await output.show { waft throws(WaftError) in try await waft.offers.decline(offer, block: block) }
    }
}

extension OutputOptions {
    /// Offers that are listed if none is named.
    private static let shownOffers = 10

    /// The number of the offer that the user named. A waiting offer that is not named is listed and not answered:
    /// another one could have come in the meantime.
    /// - Throws: `CommandError` `usage` without a number.
    fileprivate func named(_ number: Int?, verb: String) async throws(CommandError) -> Int {
        if let number { return number }
        let offers = try await doing { waft throws(WaftError) in try await waft.offers.all() }
        guard let first = offers.first?.offer else {
            throw CommandError(
                .inputMissing, "no offer waits for an answer", hint: "to see the next one: waft offers --watch")
        }
        let lines = offers.prefix(Self.shownOffers).flatMap { OfferText.lines(.offer($0)) }
        let rest =
            offers.count > Self.shownOffers ? ["and \(offers.count - Self.shownOffers) more; see: waft offers"] : []
        throw CommandError(
            .usage, "an offer is named by its number; type: waft \(verb) \(first)", others: lines + rest)
    }
}
