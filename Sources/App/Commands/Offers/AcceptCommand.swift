import ArgumentParser
import Control
import Endpoints
import Foundation
import Lines
import Settings
import Sharing

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
        let numbers = try self.numbers()
        let offer = try await Daemon.named(offer, verb: "accept")
        let isWhole = items == nil && to == nil
        let present = try await Daemon.answer(
            isWhole ? .answer(offer: offer, accept: true) : .acceptItems(offer: offer, items: numbers, folder: to))
        if output.json {
            let items = present.map { EventLine.Present(name: $0.name, arrival: $0.arrival, stored: $0.stored) }
            return EventLine.accepted(
                EventLine.Accepted(
                    offer: offer, acceptedCount: numbers.map { Set($0).count }, folder: to,
                    present: items.isEmpty ? nil : items)
            ).print()
        }
        Console.shared.result(AnswerWords.accepted(offer, items: numbers, folder: to))
        for line in AnswerWords.lines(present) { Console.shared.note(line) }
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
