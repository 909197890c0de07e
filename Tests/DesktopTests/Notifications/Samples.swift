import Desktop
import Logging
import TestSupport

extension NotificationRequest {
    static func sample(_ summary: String, body: String = "") -> NotificationRequest {
        NotificationRequest(
            summary: summary, body: body,
            actions: [Action(key: "accept", label: "Accept"), Action(key: "decline", label: "Decline")], expiry: .never)
    }

    static let rest: @Sendable (Int) -> NotificationRequest = { NotificationRequest(summary: "and \($0) more") }
}

/// Keeps the states that are logged.
struct RecordingLog: LogHandler {
    let states: Recorder<String>
    var logLevel: Logger.Level = .debug
    var metadata: Logger.Metadata = [:]

    static func make() -> (logger: Logger, states: Recorder<String>) {
        let states = Recorder<String>()
        return (Logger(label: "test") { _ in RecordingLog(states: states) }, states)
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        states.record(event.metadata?["state"].map { "\($0)" } ?? "\(event.message)")
    }
}
