import ArgumentParser
import Lines
import Operations

/// `waft transfers`: the transfers that move now, in both directions.
struct TransfersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transfers",
        abstract: "List the transfers that move now, in both directions.",
        discussion: """
            Examples:
              waft transfers
              waft transfers --watch
              waft transfers cancel 4f21a07c

            Shows what arrives, what the outbox sends, and what other waft send commands of yours have been sending for more \
            than a second. Exit code 69 if no receiver is running.
            """,
        subcommands: [TransfersListCommand.self, TransfersCancelCommand.self],
        defaultSubcommand: TransfersListCommand.self
    )
}

/// `waft transfers list`.
struct TransfersListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the transfers that move now.")

    @Flag(name: .long, help: "Keep running, and show each transfer until its end.")
    var watch = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        if watch { return try await follow() }
        let moving = try await output.doing { waft throws(WaftError) in try await waft.transfers.moving() }
        if moving.isEmpty { output.note("nothing is moving") }
        for transfer in moving { output.show(transfer) }
    }

    private func all() async throws(CommandError) -> [MovingLine] {
        try await output.doing { waft throws(WaftError) in try await waft.transfers.all() }
    }

    /// Asks once a second, until Ctrl-C, which is the normal end. On a terminal the running transfers are the last lines;
    /// elsewhere each has a line for each ten percent.
    private func follow() async throws {
        var shown: [String: MovingLine] = [:]
        // Those that were over before.
        var ended = Set(try await all().filter(\.isOver).map(\.transfer))
        while true {
            let transfers = try await all()
            for transfer in transfers where transfer.isOver && ended.insert(transfer.transfer).inserted {
                output.show(transfer)
            }
            let moving = transfers.filter { !$0.isOver }
            for transfer in moving { ended.remove(transfer.transfer) }
            // A sending of another program may end without a word.
            for transfer in shown.values where !transfers.contains(where: { $0.transfer == transfer.transfer }) {
                guard !ended.contains(transfer.transfer) else { continue }
                var gone = transfer
                gone.end("ended")
                output.show(gone)
            }
            if output.json || !Console.shared.isInteractive {
                for transfer in moving where Self.hasMoved(transfer, since: shown[transfer.transfer], output.json) {
                    output.show(transfer)
                }
            } else {
                Console.shared.status(moving.flatMap(\.words))
            }
            shown = Dictionary(uniqueKeysWithValues: moving.map { ($0.transfer, $0) })
            try await Task.sleep(for: .seconds(1))
        }
    }

    private static func hasMoved(_ transfer: MovingLine, since earlier: MovingLine?, _ isExact: Bool) -> Bool {
        guard let earlier else { return true }
        if isExact { return transfer.bytes != earlier.bytes }
        return transfer.percent.map { $0 / 10 } != earlier.percent.map { $0 / 10 }
    }
}

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
        let moving = try await output.doing { waft throws(WaftError) in try await waft.transfers.moving() }
        let chosen = try Self.choose(transfer, from: moving)
        let line = try await output.doing { waft throws(WaftError) in try await waft.transfers.cancel(chosen.transfer) }
        output.show(line, as: ["cancelled: \(chosen.label)"])
    }

    /// - Throws: `CommandError`.
    static func choose(_ text: String?, from moving: [MovingLine]) throws(CommandError) -> MovingLine {
        var found = moving
        if let text {
            let named = moving.filter { $0.transfer == text || $0.count == 1 && $0.name == text }
            found = named.isEmpty ? moving.filter { $0.transfer.hasPrefix(text) && !text.isEmpty } : named
        }
        guard let first = found.first else {
            let fault = text.map { "no transfer \(TerminalText.escaped($0)) is moving" } ?? "nothing is moving"
            throw CommandError(.inputMissing, fault, hint: moving.isEmpty ? nil : "see: waft transfers")
        }
        guard found.count == 1 else {
            throw CommandError(
                .usage, "several transfers are moving; give the beginning of one id", others: found.flatMap(\.words))
        }
        return first
    }
}
