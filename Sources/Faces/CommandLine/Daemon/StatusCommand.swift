import ArgumentParser
import Glibc
import Lines
import Operations
import Sharing

/// `waft status`: how the receiver is doing.
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the status of your receiver.",
        discussion: "Example: waft status --json. Exit code 69 when none is running."
    )

    @OptionGroup var output: OutputOptions

    func run() async throws {
        output.show(try await output.doing { waft throws(WaftError) in try await waft.status() })
    }
}

/// The status in words, a line for each fact. Foreign text is escaped.
extension StatusLine: WordedLine {
    var words: [String] {
        var facts = [
            ("name", name), ("id", PeerID(text: id)?.short ?? id), ("port", String(port)), ("inbox", inbox),
            ("free", free.map(ByteCount.text) ?? inboxFault ?? "unknown: the Inbox cannot be reached"),
            ("accepts", accept), ("visible to", visibilityWords), ("discovery", discovery),
        ]
        facts += otherDialects.map { ($0.title, $0.words) }
        facts += [
            ("handlers", String(handlerCount)), ("hook", hook ?? "none"), ("sandbox", kernel),
            ("deliveries", deliveries), ("outbox", jobs),
            ("kept partials", keptPartials == 0 ? "none" : "\(keptPartials), \(ByteCount.text(keptBytes))"),
            ("waiting offers", String(waitingOffers)), ("active transfers", String(activeTransfers)),
            ("process", String(processID)),
        ]
        facts += transfers.map { ("moving", $0.words[0]) }
        facts += (settingsFaults ?? []).map { ("config", $0 + age) } + (programFaults ?? []).map { ("missing", $0) }
        if let wakeFault { facts.append(("awake", wakeFault)) }
        if let radio {
            facts.append(("iPhones", "\(radio.words); \(radio.details)"))
            facts += (radio.obstacles ?? []).map { ("radio misses", $0) }
        }
        if let protectionWords { facts.append(("protection", protectionWords)) }
        if let journalFault { facts.append(("journal", journalFault)) }
        facts += (damage ?? []).map { ("damaged", $0) }
        return facts.map { label, value in
            label + String(repeating: " ", count: 17 - label.count) + TerminalText.escaped(value, limit: 400)
        }
    }

    /// `; running with that of 21:40`
    private var age: String {
        guard let settingsSince else { return "" }
        var (seconds, parts) = (time_t(settingsSince.time.milliseconds / 1_000), tm())
        guard localtime_r(&seconds, &parts) != nil else { return "" }
        let minute = parts.tm_min < 10 ? "0\(parts.tm_min)" : "\(parts.tm_min)"
        return "; running with that of \(parts.tm_hour):\(minute)"
    }

    private var visibilityWords: String {
        if let visibilityStored { return VisibleCommand.line(visibility, over: visibilityStored) }
        guard let visibilitySeconds, let visibilityThen else { return visibility }
        return "\(visibility) for \(VisibleCommand.words(visibilitySeconds)); then \(visibilityThen)"
    }

    private var jobs: String {
        let hint = waitingJobs + failedJobs > 0 ? "; see: waft outbox" : ""
        return "\(waitingJobs) waiting, \(sendingJobs) being sent, \(failedJobs) given up\(hint)"
    }

    private var deliveries: String {
        guard let waitingDeliveries else { return "unknown: the journal cannot be read" }
        let (parked, failed) = (parkedDeliveries ?? 0, failedDeliveries ?? 0)
        let hint = parked + failed > 0 ? "; see: waft history" : ""
        return "\(waitingDeliveries) waiting, \(parked) parked, \(failed) failed\(hint)"
    }
}
