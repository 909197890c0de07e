import ArgumentParser
import Control

/// `waft lock`.
struct LockCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lock",
        abstract: "Lock your receiver: what is sealed cannot be read until the next unlock.",
        discussion: """
            Example: swayidle lock 'waft lock'

            Wipes the private key of the classes complete and unlessOpen from memory; with --all that of untilFirstUnlock \
            too. Exit code 69 when no receiver is running.
            """
    )

    @Flag(name: .long, help: "Lock the class untilFirstUnlock too.")
    var all = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let reply = try await Daemon.ask(.protection(.lock(all: all)), timeout: .seconds(20))
        let report = try ProtectionPlace.report(in: reply)
        guard report.isSetUp else { throw CommandError.notSetUp }
        if output.json { return EventLine.locked(ProtectionFields.State(report)).print() }
        Console.shared.result(ProtectionText.locked(report))
    }
}
