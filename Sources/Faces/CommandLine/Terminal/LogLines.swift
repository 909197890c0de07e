import Foundation
import Glibc
import Lines
import Logging
import Sharing

/// Writes log lines to standard error: the event first, the facts behind it.
///
/// They go through the console, so that a question on a terminal stays on the last line.
struct LogLines: LogHandler {
    let label: String
    let form: LogLineForm
    /// The level of the settings; asked for at each line.
    let level: @Sendable () -> Logger.Level
    private var ownLevel: Logger.Level?
    var metadata: Logger.Metadata = [:]

    init(label: String, form: LogLineForm, level: @escaping @Sendable () -> Logger.Level) {
        (self.label, self.form, self.level) = (label, form, level)
    }

    var logLevel: Logger.Level {
        get { ownLevel ?? level() }
        set { ownLevel = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let facts = metadata.merging(event.metadata ?? [:]) { _, later in later }
        let time = WallTime.now
        Console.shared.note(form.line(event.level, "\(event.message)", facts, label: label, at: time))
    }
}

/// The form of a log line.
enum LogLineForm {
    /// With time, level and the program's name.
    case file
    /// For a person who uses `waft` at a terminal: a sentence.
    case person
    /// For the journal of systemd, which adds the time and the program: the level is a number in front (sd-daemon(3)).
    case journal

    private static let maximumLength = 4_000

    /// Standard error is the journal if `JOURNAL_STREAM` has its device and inode (systemd.exec(5)).
    static func ofStandardError(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> LogLineForm {
        var status = stat()
        guard let stream = environment["JOURNAL_STREAM"], fstat(STDERR_FILENO, &status) == 0 else { return .file }
        return stream == "\(status.st_dev):\(status.st_ino)" ? .journal : .file
    }

    /// - Parameter facts: in the order of their keys.
    func line(
        _ level: Logger.Level, _ event: String, _ facts: Logger.Metadata, label: String, at time: WallTime
    ) -> String {
        if self == .person { return Self.sentence(level, event, facts, label) }
        let words = [event] + facts.sorted { $0.key < $1.key }.map { "\($0.key)=\(Self.value("\($0.value)"))" }
        let text = TerminalText.escaped(words.joined(separator: " "), limit: Self.maximumLength)
        return switch self {
        case .file, .person: "\(LineTime(time).text) \(level) \(label): \(text)"
        case .journal: "<\(Self.priority(level))>\(text)"
        }
    }

    /// `waft: warning: the lock of the screen cannot be watched: no bus (see waft status)`
    private static func sentence(
        _ level: Logger.Level, _ event: String, _ facts: Logger.Metadata, _ label: String
    ) -> String {
        let reason = facts["reason"].map { ": \($0)" } ?? ""
        let others = facts.filter { $0.key != "reason" }.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        let behind = others.isEmpty ? "" : " (\(others.joined(separator: ", ")))"
        let text = TerminalText.escaped(event + reason + behind, limit: maximumLength)
        return level >= .warning ? "\(label): \(level): \(text)" : "\(label): \(text)"
    }

    /// Text of a program that ends, as it is; in the journal each of its lines has its level.
    func text(_ level: Logger.Level, _ text: String) -> String {
        guard self == .journal else { return text }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.map { "<\(Self.priority(level))>\($0)" }.joined(separator: "\n")
    }

    /// A value with blanks stands in quotes.
    private static func value(_ text: String) -> String {
        text.contains(" ") || text.isEmpty ? "\"\(text.replacing("\"", with: "\\\""))\"" : text
    }

    private static func priority(_ level: Logger.Level) -> Int {
        switch level {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}
