import Control
import Foundation
package import Lines

extension Waft {
    /// How the receiver is doing.
    /// - Throws: `WaftError`, `notRunning` when none is running.
    package func status() async throws(WaftError) -> StatusLine {
        guard case .status(let line) = try await receiver.ask(.status) else {
            throw WaftError(.unexpected, "the receiver gave no status")
        }
        return line
    }
}

extension StatusLine {
    /// How protected items stand, in words; nil if data protection is not in use.
    package var protectionWords: String? {
        guard let protection, let protectionSince, isProtectionSetUp || protection != "none" else { return nil }
        let state = Self.protectionState(
            isDropBox: isDropBox, isLocking: locking == true, isUnlocked: unlocked == true, since: protectionSince,
            waitingItems: waitingItems ?? 0)
        return [protection, state, protectionFault].compactMap(\.self).joined(separator: ", ")
    }

    /// `locked since 09:12; 3 items wait`
    package static func protectionState(
        isDropBox: Bool, isLocking: Bool, isUnlocked: Bool, since: LineTime, waitingItems: Int
    ) -> String {
        if isDropBox { return "a drop box: nothing can be opened here" }
        let word = isLocking ? "locking" : isUnlocked ? "unlocked" : "locked"
        let waiting = waitingItems == 1 ? "; 1 item waits" : waitingItems == 0 ? "" : "; \(waitingItems) items wait"
        return "\(word) since \(moment(since.date))\(waiting)"
    }

    /// `09:12`, or with the day if that is another one.
    private static func moment(_ date: Date) -> String {
        let time = Date.ISO8601FormatStyle(timeZone: .current).time(includingFractionalSeconds: false)
        let clock = String(date.formatted(time).prefix(5))
        if Calendar.current.isDateInToday(date) { return clock }
        return date.formatted(Date.ISO8601FormatStyle(timeZone: .current).year().month().day()) + " " + clock
    }
}
