import ArgumentParser
import Lines
import Operations

extension VisibilityControl.Choice: ExpressibleByArgument {}

/// `waft visible`.
struct VisibleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "visible",
        abstract: "Show or choose who can see this machine and offer items to it.",
        discussion: """
            Example: waft visible everyone --for 10m

            off: nobody; contacts: your contacts, while strangers see no name; everyone: strangers too, and you are asked \
            about their offers. With --for the choice ends by itself, and the stored choice applies again.

            A receiver that was started by waft receive, or with --accept everyone, is visible to everyone until \
            you choose something here; then your choice applies, also while it runs.
            """
    )

    @Argument(
        help: ArgumentHelp("off, contacts or everyone. Without it, the current visibility is shown.", valueName: "who"))
    var who: VisibilityControl.Choice?

    @Option(name: .customLong("for"), help: ArgumentHelp("How long, such as 10m.", valueName: "duration"))
    var duration: String?

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if who == nil, duration != nil { throw ValidationError("--for needs off, contacts or everyone before it") }
    }

    func run() async throws {
        let (line, hasReceiver) = try await output.doing { waft throws(WaftError) in
            guard let who else { return try await waft.visibility.current() }
            return try await waft.visibility.choose(who, for: try length())
        }
        output.show(line)
        guard !hasReceiver, !output.json else { return }
        Console.shared.note("waft: no receiver is running here: nobody sees this machine until waftd runs")
    }

    private func length() throws(WaftError) -> Duration? {
        do throws(WaftError) {
            return try duration.map { text throws(WaftError) in try ContactTerms.duration(text) }
        } catch {
            throw error.at("--for")
        }
    }

    /// - Parameter stored: the stored choice, which the receiver's start options override.
    static func line(_ now: String, over stored: String) -> String {
        "\(now), as the receiver was started, until you choose with waft visible; stored choice: \(stored)"
    }

    /// In minutes from two of them on, in hours from two of those on, and so with days; rounded up.
    static func words(_ seconds: Int64) -> String {
        let units: [(word: String, seconds: Int64)] = [("d", 86_400), ("h", 3_600), ("m", 60)]
        let step = units.first { seconds >= 2 * $0.seconds }?.seconds ?? 1
        let rounded = (seconds + step - 1) / step * step
        guard let unit = units.first(where: { rounded >= $0.seconds && rounded % $0.seconds == 0 }) else {
            return "\(rounded)s"
        }
        return "\(rounded / unit.seconds)\(unit.word)"
    }
}

extension VisibilityLine: WordedLine {
    var words: [String] {
        let more = radioWords.map { [TerminalText.escaped($0, limit: 400)] } ?? []
        if let visibilityStored { return [VisibleCommand.line(visibility, over: visibilityStored)] + more }
        guard let visibilitySeconds, let visibilityUntil, let visibilityThen else { return [visibility] + more }
        return [
            "\(visibility) for \(VisibleCommand.words(visibilitySeconds)), until \(visibilityUntil.local); then "
                + visibilityThen
        ] + more
    }
}
