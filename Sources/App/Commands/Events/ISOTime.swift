import Lines
import Sharing

/// Times for programs: RFC 3339, UTC, whole seconds.
enum ISOTime {
    static func text(_ time: WallTime) -> String { LineTime(time).text }
}
