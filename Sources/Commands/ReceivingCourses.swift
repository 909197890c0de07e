import Sharing
import Synchronization

/// The progress lines of the transfers that come in.
final class ReceivingCourses: Sendable {
    private struct Course {
        /// Escaped.
        var label: String
        var line: ProgressLine?
    }

    private let courses = Mutex<[TransferID: Course]>([:])

    /// - Parameter name: the sender's.
    func begin(_ offer: Offer, from name: String) {
        let only = offer.items.count == 1 ? offer.items.first : nil
        let items = only.map { TerminalText.escaped($0.name.text) } ?? "\(offer.items.count) items"
        courses.withLock {
            $0[offer.transfer] = Course(label: "\(items) from \(TerminalText.escaped(name, limit: 64))")
        }
    }

    /// - Parameter total: bytes of all items.
    /// - Returns: nil for a transfer that has not begun.
    func text(_ transfer: TransferID, _ received: UInt64, of total: UInt64) -> String? {
        courses.withLock { courses in
            guard var course = courses[transfer] else { return nil }
            var line = course.line ?? ProgressLine(course.label, total: total)
            let text = line.text(bytes: received, at: .now, width: Console.shared.width - 1)
            course.line = line
            courses[transfer] = course
            return text
        }
    }

    func end(_ transfer: TransferID) {
        courses.withLock { $0[transfer] = nil }
    }
}
