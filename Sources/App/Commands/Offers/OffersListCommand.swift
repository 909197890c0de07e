import ArgumentParser
import Control
import Lines
import Sharing

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
        guard case .offers(var offers) = try await Daemon.ask(.offers) else {
            throw CommandError(.unexpected, "the receiver gave no offers")
        }
        if let number = offer {
            guard var wanted = offers.first(where: { $0.number == number }) else {
                throw CommandError(.inputMissing, "no offer \(number) waits for an answer", hint: "see: waft offers")
            }
            try await complete(&wanted)
            offers = [wanted]
        }
        if output.json {
            for offer in offers { EventLine(.offer(offer)).print() }
            return
        }
        if offers.isEmpty { Console.shared.note("no offers wait for an answer") }
        for offer in offers {
            for line in OfferText.lines(offer) { Console.shared.result(line) }
            Console.shared.result("  waft accept \(offer.number)   or   waft decline \(offer.number)")
        }
    }

    /// Fetches the items that are not shown with others.
    private func complete(_ offer: inout OfferSummary) async throws {
        while offer.items.count < offer.itemCount {
            switch try await Daemon.ask(.items(offer: offer.number, from: offer.items.count)) {
            case .items(let more) where !more.isEmpty: offer.items += more
            case .unknown(let reason):
                throw CommandError(.inputMissing, TerminalText.escaped(reason), hint: "see: waft offers")
            default: throw CommandError(.unexpected, "the receiver did not show all items of the offer")
            }
        }
    }

    /// Shows events until Ctrl-C, which is the normal end.
    private func follow() async throws {
        let json = output.json
        try await Daemon.follow { event in
            if json {
                EventLine(event).print()
            } else {
                for line in OfferText.lines(event) { Console.shared.result(line) }
            }
        }
    }
}
