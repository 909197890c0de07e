import Contacts
import Lines
import Sharing
import Synchronization

/// The progress lines of the transfers that come in.
final class ReceivingCourses: Sendable {
    private struct Course {
        /// Escaped.
        var label: String
        /// The sender, escaped.
        var sender: String
        var line: ProgressLine?
    }

    private let courses = Mutex<[TransferID: Course]>([:])

    func begin(_ offer: Offer, from sender: Person) {
        let only = offer.items.count == 1 ? offer.items.first : nil
        let items = only.map { TerminalText.escaped($0.name.text) } ?? "\(offer.items.count) items"
        courses.withLock {
            $0[offer.transfer] = Course(
                label: "\(items) from \(sender.name)",
                sender: sender.line)
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

    /// - Returns: the sender, escaped; nil for a transfer that has not begun.
    @discardableResult
    func end(_ transfer: TransferID) -> String? {
        courses.withLock { $0.removeValue(forKey: transfer)?.sender }
    }
}
