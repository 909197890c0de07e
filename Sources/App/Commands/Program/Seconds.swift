import Endpoints
import Settings

/// Seconds, as people type them.
enum Seconds {
    /// - Returns: nil for anything but a number above 0 and at most a year.
    static func duration(_ seconds: Double) -> Duration? {
        guard seconds > 0, seconds <= 31_536_000 else { return nil }
        return .milliseconds(Int64((seconds * 1_000).rounded(.up)))
    }
}
