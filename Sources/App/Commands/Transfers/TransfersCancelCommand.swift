import ArgumentParser
import Control
import Lines
import Sharing

/// `waft transfers cancel`, and `waft offers cancel`.
struct TransfersCancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Cancel a transfer that is moving.",
        discussion: """
            Example: waft transfers cancel

            The other side is told. A sender does not try again; a job of the outbox is cancelled. Items that are stored \
            already stay there. If several transfers are moving, give the one: waft transfers lists them.
            """
    )

    @Argument(
        help: ArgumentHelp(
            "The beginning of the transfer's id, or the name of its item, if several are moving.", valueName: "transfer"
        ),
        completion: .transfers)
    var transfer: String?

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let transfer = try Self.choose(transfer, from: try await Daemon.transfers().filter { $0.end == nil })
        switch try await Daemon.ask(.cancel(transfer: transfer.transfer)) {
        case .done: break
        case .unknown(let reason), .refused(let reason):
            throw CommandError(.inputMissing, TerminalText.escaped(reason), hint: "see: waft transfers")
        default: throw CommandError(.unexpected, "the receiver gave no answer")
        }
        output.json
            ? EventLine.cancelled(transfer: transfer.transfer).print()
            : Console.shared.result("cancelled: \(TransferText.label(transfer))")
    }

    /// - Throws: `CommandError`.
    static func choose(_ text: String?, from moving: [TransferSummary]) throws(CommandError) -> TransferSummary {
        var found = moving
        if let text {
            let named = moving.filter { $0.transfer == text || $0.itemCount == 1 && $0.name == text }
            found = named.isEmpty ? moving.filter { $0.transfer.hasPrefix(text) && !text.isEmpty } : named
        }
        guard let first = found.first else {
            let fault = text.map { "no transfer \(TerminalText.escaped($0)) is moving" } ?? "nothing is moving"
            throw CommandError(.inputMissing, fault, hint: moving.isEmpty ? nil : "see: waft transfers")
        }
        guard found.count == 1 else {
            throw CommandError(
                .usage, "several transfers are moving; give the beginning of one id",
                others: found.map { TransferText.line($0) })
        }
        return first
    }
}
