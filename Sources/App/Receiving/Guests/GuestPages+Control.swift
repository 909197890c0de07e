import Control
import Executors
import Lines
import Sharing

extension GuestPages {
    /// Answers a request from the control socket.
    /// - Parameter blocking: threads that may wait for the disk.
    func reply(to request: PageRequest, on blocking: BlockingExecutor) async -> ControlReply {
        switch request {
        case .open(let wanted):
            do {
                return .page(try await withTaskExecutorPreference(blocking) { try await open(wanted) })
            } catch let error as SourceError {
                return .unknown(error.message)
            } catch let error as Refusal {
                return .refused(error.line)
            } catch {
                return .refused("\(error)")
            }
        case .follow(let ticket, let seen):
            return await follow(ticket, seen: seen).map { .page($0) } ?? .unknown("no page has this ticket")
        case .close(let ticket):
            close(ticket)
            return .done
        }
    }
}
