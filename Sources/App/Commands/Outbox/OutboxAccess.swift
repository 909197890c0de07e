import ArgumentParser
import Control
import Endpoints
import NIOPosix
import Outbox
import Settings
import Sharing

/// The outbox of this user, with errors as command failures.
struct OutboxAccess {
    let store: OutboxStore
    private let home: Home

    init() throws(CommandError) {
        home = try CommandContext(isForgiving: true).home
        store = OutboxStore(folder: home.outbox)
    }

    /// The peers that the user knows.
    var people: Acquaintances { Acquaintances(home.contactBook()) }

    func contents() throws(CommandError) -> OutboxStore.Contents {
        do {
            return try store.contents()
        } catch {
            throw Self.failure(error)
        }
    }

    func record(_ number: Int) throws(CommandError) -> OutboxStore.Record {
        do {
            return try store.record(JobNumber(number))
        } catch {
            throw Self.failure(error)
        }
    }

    /// The progress of the jobs that are being sent, as the receiver reports it.
    ///
    /// - Parameter records: if none of them is being sent, the receiver is not asked.
    func course(of records: [OutboxStore.Record]) async -> OutboxCourse {
        guard records.contains(where: { $0.standing.state == .sending }) else { return OutboxCourse() }
        do throws(ControlError) {
            let socket = try ControlSocket(folder: home.run)
            let reply = try await ControlClient.ask(
                .outbox(.progress), at: socket, on: MultiThreadedEventLoopGroup.singleton)
            guard case .progress(let jobs) = reply else { return OutboxCourse() }
            return OutboxCourse(jobs)
        } catch {
            return OutboxCourse(isReceiverThere: error.code != .notRunning)
        }
    }

    /// Tells a running receiver that the folder has changed.
    func tellReceiver() async {
        guard let socket = try? ControlSocket(folder: home.run) else { return }
        _ = try? await ControlClient.ask(
            .outbox(.lookAgain), at: socket, on: MultiThreadedEventLoopGroup.singleton)
    }

    /// Lets the receiver do something; if none is running, it is done here.
    /// - Returns: whether a receiver is running.
    @discardableResult
    func change(
        _ request: OutboxRequest, here body: () throws(OutboxError) -> Void
    ) async throws(CommandError) -> Bool {
        let reply: ControlReply
        do throws(ControlError) {
            let socket = try ControlSocket(folder: home.run)
            reply = try await ControlClient.ask(
                .outbox(request), at: socket, on: MultiThreadedEventLoopGroup.singleton)
        } catch {
            guard error.code == .notRunning else { throw Daemon.failure(error) }
            do throws(OutboxError) {
                try body()
                return false
            } catch {
                throw Self.failure(error)
            }
        }
        switch reply {
        case .done: return true
        case .unknown(let reason): throw CommandError(.inputMissing, TerminalText.escaped(reason, limit: 1_000))
        case .refused(let reason): throw CommandError(.usage, TerminalText.escaped(reason, limit: 1_000))
        default: throw CommandError(.unexpected, "the receiver gave no answer")
        }
    }

    static func failure(_ error: OutboxError) -> CommandError {
        let exit: WaftExit =
            switch error.code {
            case .unknown: .inputMissing
            case .unfit: .usage
            default: .unexpected
            }
        let hint = error.code == .unknown ? "see: waft outbox list --all" : nil
        return CommandError(exit, TerminalText.escaped(error.description, limit: 1_000), hint: hint)
    }
}
