import ArgumentParser

/// `waft protection status`.
struct ProtectionStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show how arrivals are sealed, and whether they can be read now.",
        discussion: "Example: waft protection --json"
    )

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let place = try ProtectionPlace()
        let recipients = try place.recipients()
        let report = try await place.report()
        if output.json {
            return EventLine.protection(ProtectionFields(place, recipients, report)).print()
        }
        for line in ProtectionText.lines(place, recipients, report) { Console.shared.result(line) }
    }
}
