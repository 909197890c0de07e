import ArgumentParser
import Control
import Endpoints
import Glibc
import Lines
import Settings
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
        guard case .status(let status) = try await Daemon.ask(.status) else {
            throw CommandError(.unexpected, "the receiver gave no status")
        }
        if output.json { return EventLine.status(StatusFields(status)).print() }
        let free = status.freeRoom.map(ByteCount.text) ?? status.inboxFault ?? "unknown: the Inbox cannot be reached"
        var lines = [
            ("name", status.name), ("id", PeerID(text: status.id)?.short ?? status.id),
            ("port", String(status.port)), ("inbox", status.inbox),
            ("free", free), ("accepts", status.accept), ("visible to", Self.visibility(status)),
            ("discovery", status.discovery),
        ]
        lines += (status.dialects ?? []).map { ($0.title, $0.words) }
        lines += [
            ("handlers", status.handlers.map(String.init) ?? "unknown"), ("hook", status.hook ?? "none"),
            ("sandbox", status.sandbox ?? "unknown"), ("deliveries", Self.deliveries(status)),
            ("outbox", Self.jobs(status)),
            ("kept partials", Self.partials(status)),
            ("waiting offers", String(status.waitingOffers)),
            ("active transfers", String(status.activeTransfers)), ("process", String(status.processID)),
        ]
        lines += (status.transfers ?? []).map { ("moving", $0.words[0]) }
        for fault in status.settingsFaults ?? [] {
            lines.append(("config", "\(fault)\(Self.since(status.settingsSince))"))
        }
        lines += (status.programFaults ?? []).map { ("missing", $0) }
        if let fault = status.wakeFault { lines.append(("awake", fault)) }
        if let line = ProtectionText.statusLine(status.protection) { lines.append(("protection", line)) }
        if let fault = status.journalError { lines.append(("journal", fault)) }
        lines += (status.damage ?? []).map { ("damaged", $0) }
        for (label, value) in lines {
            let padding = String(repeating: " ", count: 17 - label.count)
            Console.shared.result("\(label)\(padding)\(TerminalText.escaped(value, limit: 400))")
        }
    }

    /// `; running with that of 21:40`
    private static func since(_ milliseconds: Int64?) -> String {
        guard let milliseconds else { return "" }
        var (seconds, parts) = (time_t(milliseconds / 1_000), tm())
        guard localtime_r(&seconds, &parts) != nil else { return "" }
        let minute = parts.tm_min < 10 ? "0\(parts.tm_min)" : "\(parts.tm_min)"
        return "; running with that of \(parts.tm_hour):\(minute)"
    }

    private static func visibility(_ status: DaemonStatus) -> String {
        let now = status.visible ?? "unknown"
        if let stored = status.visibleStored { return VisibleCommand.line(now, over: stored) }
        guard let seconds = status.visibleSeconds, let then = status.visibleThen else { return now }
        return "\(now) for \(VisibleCommand.words(seconds)); then \(then)"
    }

    private static func jobs(_ status: DaemonStatus) -> String {
        let (waiting, failed) = (status.waitingJobs ?? 0, status.failedJobs ?? 0)
        let hint = waiting + failed > 0 ? "; see: waft outbox" : ""
        return "\(waiting) waiting, \(status.sendingJobs ?? 0) being sent, \(failed) given up\(hint)"
    }

    private static func partials(_ status: DaemonStatus) -> String {
        guard let count = status.keptPartials else { return "unknown" }
        return count == 0 ? "none" : "\(count), \(ByteCount.text(status.keptBytes ?? 0))"
    }

    private static func deliveries(_ status: DaemonStatus) -> String {
        guard let waiting = status.waitingDeliveries else { return "unknown: the journal cannot be read" }
        let (parked, failed) = (status.parkedDeliveries ?? 0, status.failedDeliveries ?? 0)
        let hint = parked + failed > 0 ? "; see: waft history" : ""
        return "\(waiting) waiting, \(parked) parked, \(failed) failed\(hint)"
    }
}
