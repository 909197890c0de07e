import Control
import Lines
import Sending
import Sharing
import Synchronization

/// Tells the user's receiver how far a sending is, so that `waft transfers` shows it and can cancel it.
///
/// Only of sendings that take longer than a second; a fault, or no receiver, changes nothing.
final class SendingReports: SendingWatch {
    private struct Report {
        var transfer: MovingLine
        var reporting: Task<Void, Never>
        var isReported = false
    }

    /// Before the first report, and between two.
    private static let pause: Duration = .seconds(1)
    /// How long a receiver may take to answer one.
    private static let patience: Duration = .seconds(2)

    private let receiver: ReceiverConnection
    private let courses = Mutex<[String: Report]>([:])

    init(_ receiver: ReceiverConnection) { self.receiver = receiver }

    func moved(_ transfer: MovingLine, _ cancellation: Cancellation) {
        courses.withLock { courses in
            if courses[transfer.transfer] == nil {
                let reporting = Task { await report(transfer.transfer, cancellation) }
                courses[transfer.transfer] = Report(transfer: transfer, reporting: reporting)
            }
            courses[transfer.transfer]?.transfer = transfer
        }
    }

    /// Also of a sending that stands still.
    private func report(_ id: String, _ cancellation: Cancellation) async {
        while (try? await Task.sleep(for: Self.pause)) != nil {
            let transfer = courses.withLock { courses in
                courses[id]?.isReported = true
                return courses[id]?.transfer
            }
            guard let transfer else { return }
            if case .cancelled? = await tell(transfer) { cancellation.request() }
        }
    }

    func ended(_ transfer: MovingLine) async {
        let course = courses.withLock { $0.removeValue(forKey: transfer.transfer) }
        course?.reporting.cancel()
        guard course?.isReported == true else { return }
        await course?.reporting.value
        _ = await tell(transfer)
    }

    private func tell(_ transfer: MovingLine) async -> ControlReply? {
        try? await receiver.askIfRunning(.moving(transfer), timeout: Self.patience)
    }
}
