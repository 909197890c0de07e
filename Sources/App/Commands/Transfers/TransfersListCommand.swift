import ArgumentParser
import Control
import Lines
import Sharing

/// `waft transfers list`.
struct TransfersListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the transfers that move now.")

    @Flag(name: .long, help: "Keep running, and show each transfer until its end.")
    var watch = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        if watch { return try await follow() }
        let moving = try await Daemon.transfers().filter { $0.end == nil }
        if moving.isEmpty, !output.json { Console.shared.note("nothing is moving") }
        for transfer in moving { show(transfer) }
    }

    private func show(_ transfer: TransferSummary) {
        Console.shared.result(
            output.json ? EventLine.moving(EventLine.Moving(transfer)).text : TransferText.line(transfer))
    }

    /// Asks once a second, until Ctrl-C, which is the normal end. On a terminal the running transfers are the last lines;
    /// elsewhere each has a line for each ten percent.
    private func follow() async throws {
        var shown: [String: TransferSummary] = [:]
        // Those that were over before.
        var ended = Set(try await Daemon.transfers().filter { $0.end != nil }.map(\.transfer))
        while true {
            let transfers = try await Daemon.transfers()
            for transfer in transfers where transfer.end != nil && ended.insert(transfer.transfer).inserted {
                show(transfer)
            }
            let moving = transfers.filter { $0.end == nil }
            for transfer in moving { ended.remove(transfer.transfer) }
            // A sending of another program may end without a word.
            for transfer in shown.values where !transfers.contains(where: { $0.transfer == transfer.transfer }) {
                guard !ended.contains(transfer.transfer) else { continue }
                var gone = transfer
                gone.end = "ended"
                show(gone)
            }
            if output.json || !Console.shared.isInteractive {
                for transfer in moving where Self.hasMoved(transfer, since: shown[transfer.transfer], output.json) {
                    show(transfer)
                }
            } else {
                Console.shared.status(moving.map { TransferText.line($0) })
            }
            shown = Dictionary(uniqueKeysWithValues: moving.map { ($0.transfer, $0) })
            try await Task.sleep(for: .seconds(1))
        }
    }

    private static func hasMoved(
        _ transfer: TransferSummary, since earlier: TransferSummary?, _ isExact: Bool
    ) -> Bool {
        guard let earlier else { return true }
        if isExact { return transfer.bytes != earlier.bytes }
        return TransferText.percent(transfer).map { $0 / 10 } != TransferText.percent(earlier).map { $0 / 10 }
    }
}

extension Daemon {
    /// The transfers that move now, and those that have just ended.
    /// - Throws: `CommandError`, 69 when no receiver is running.
    static func transfers() async throws(CommandError) -> [TransferSummary] {
        guard case .transfers(let transfers) = try await ask(.transfers) else {
            throw CommandError(.unexpected, "the receiver gave no transfers")
        }
        return transfers
    }
}
