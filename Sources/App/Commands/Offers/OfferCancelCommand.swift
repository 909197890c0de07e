import ArgumentParser
import Control
import Sharing

/// `waft offers cancel`: cancels a transfer that arrives.
struct OfferCancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Cancel a transfer that is arriving.",
        discussion: """
            Example: waft offers cancel

            The sender hears it, and does not try again. Items that are in the Inbox already stay there. If several transfers \
            are arriving, give the one: the command lists them.
            """
    )

    @Argument(help: ArgumentHelp("The transfer, if several are arriving.", valueName: "transfer"))
    var transfer: String?

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let id = if let transfer { transfer } else { try await onlyOne() }
        switch try await Daemon.ask(.cancel(transfer: id)) {
        case .done: break
        case .unknown(let reason): throw CommandError(.inputMissing, reason, hint: "see: waft status")
        default: throw CommandError(.unexpected, "the receiver gave no answer")
        }
        output.json
            ? EventLine.cancelled(transfer: id).print() : Console.shared.result("cancelled \(TerminalText.escaped(id))")
    }

    private func onlyOne() async throws -> String {
        guard case .transfers(let transfers) = try await Daemon.ask(.transfers) else {
            throw CommandError(.unexpected, "the receiver gave no transfers")
        }
        guard let first = transfers.first else { throw CommandError(.inputMissing, "nothing is arriving") }
        guard transfers.count == 1 else {
            throw CommandError(
                .usage, "several transfers are arriving; give one of them",
                others: transfers.map { transfer in
                    let items = transfer.itemCount == 1 ? "1 item" : "\(transfer.itemCount) items"
                    let size = ByteCount.text(transfer.size)
                    return "\(transfer.transfer)  \(items) from \(TerminalText.peerName(transfer.peerName)), \(size)"
                })
        }
        return first.transfer
    }
}
