import ArgumentParser
import Control
import Endpoints
import Settings
import Sharing

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
        let offer = try await Daemon.named(offer, verb: "decline")
        _ = try await Daemon.answer(block ? .block(offer: offer) : .answer(offer: offer, accept: false))
        output.json
            ? EventLine.declined(EventLine.Declined(offer: offer, blocked: block)).print()
            : Console.shared.result(AnswerWords.declined(offer, block: block))
    }
}
