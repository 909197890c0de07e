import ArgumentParser
import Contacts
import Control
import Lines
import Sharing

extension Visibility: ExpressibleByArgument {}

/// `waft visible`.
struct VisibleCommand: ContactsVerb {
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

    struct Fields: Encodable {
        var visibility: String
        /// The visibility ends after so many seconds, rounded up, or at that time; nil for a permanent choice.
        var visibilitySeconds: Int64?
        var visibilityUntil: String?
        var visibilityThen: String?
        /// The stored visibility, if the start options of the running receiver override it.
        var visibilityStored: String?

        init(visibility: String, visibilityStored: String? = nil) {
            (self.visibility, self.visibilityStored) = (visibility, visibilityStored)
        }

        init(_ report: VisibilityReport) {
            (visibility, visibilityStored, visibilityThen) = (report.visibility, report.stored, report.then)
            guard let until = report.until else { return }
            visibilityUntil = ISOTime.text(WallTime(milliseconds: until))
            visibilitySeconds = max(0, (until - WallTime.now.milliseconds + 999) / 1_000)
        }
    }

    @Argument(
        help: ArgumentHelp("off, contacts or everyone. Without it, the current visibility is shown.", valueName: "who"))
    var who: Visibility?

    @Option(name: .customLong("for"), help: ArgumentHelp("How long, such as 10m.", valueName: "duration"))
    var duration: String?

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if who == nil, duration != nil { throw ValidationError("--for needs off, contacts or everyone before it") }
    }

    mutating func run() async throws {
        // The visibility of a running receiver may differ from the file.
        let reply = who == nil ? try? await Daemon.ask(.status) : nil
        if case .status(let status) = reply, let stored = status.visibilityStored {
            let event = EventLine.visibility(Fields(visibility: status.visibility, visibilityStored: stored))
            return Console.shared.result(output.json ? event.text : Self.line(status.visibility, over: stored))
        }
        try await carryOut()
        if who == nil, reply == nil { sayThatNoneRuns() }
    }

    func sayThatNoneRuns() {
        guard !output.json else { return }
        Console.shared.note("waft: no receiver is running here: nobody sees this machine until waftd runs")
    }

    /// - Parameter stored: the stored choice, which the receiver's start options override.
    static func line(_ now: String, over stored: String) -> String {
        "\(now), as the receiver was started, until you choose with waft visible; stored choice: \(stored)"
    }

    func report(on place: ContactsPlace) throws(CommandError) -> VerbReport {
        if let who { try choose(who, place) }
        let state = try CommandError.catching(hint: "until the file is fixed, contacts applies") {
            () throws(ContactError) in try place.visibility.state()
        }
        return VerbReport(
            results: [output.json ? event(state, place).text : line(state, place)], isChange: who != nil)
    }

    private func choose(_ who: Visibility, _ place: ContactsPlace) throws(CommandError) {
        var length: Duration?
        if let duration {
            do throws(ContactError) {
                length = try DurationText.read(duration)
            } catch {
                throw CommandError(error, at: "--for")
            }
        }
        let chosen = length
        try CommandError.catching { () throws(ContactError) in try place.visibility.choose(who, for: chosen) }
    }

    private func line(_ state: VisibilityFile.State, _ place: ContactsPlace) -> String {
        let word = state.visibility.rawValue
        guard let next = state.next else { return word }
        let until = ContactText(place).moment(Self.end(next.seconds, place))
        return "\(word) for \(Self.words(next.seconds)), until \(until); then \(next.visibility.rawValue)"
    }

    private func event(_ state: VisibilityFile.State, _ place: ContactsPlace) -> EventLine {
        var fields = Fields(visibility: state.visibility.rawValue)
        if let next = state.next {
            fields.visibilitySeconds = next.seconds
            fields.visibilityUntil = ISOTime.text(Self.end(next.seconds, place))
            fields.visibilityThen = next.visibility.rawValue
        }
        return .visibility(fields)
    }

    /// In minutes from two of them on, in hours from two of those on, and so with days; rounded up.
    static func words(_ seconds: Int64) -> String {
        let units: [Int64] = [86_400, 3_600, 60]
        let unit = units.first { seconds >= 2 * $0 } ?? 1
        return DurationText.text(.seconds((seconds + unit - 1) / unit * unit))
    }

    /// - Parameter seconds: at most `ContactBounds.days` days.
    private static func end(_ seconds: Int64, _ place: ContactsPlace) -> WallTime {
        let (sum, overflow) = place.now().milliseconds.addingReportingOverflow(seconds * 1_000)
        return WallTime(milliseconds: overflow ? .max : sum)
    }
}
