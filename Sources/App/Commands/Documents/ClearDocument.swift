import Glibc
import Inbox
import Settings
import Sharing

/// The clear copy of a sealed item, for a program that a person has chosen. It lies in memory; the receiver removes it when
/// it locks or ends.
enum ClearDocument {
    /// A holder of copies, beside the handlers.
    enum Reader {
        /// The applications that a person chooses, all together: a copy stays after the verb.
        case applications
        /// This process, which removes its copy at its end. Others that read the same item keep theirs.
        case thisProcess

        fileprivate var program: String {
            switch self {
            case .applications: "org.waft.documents"
            case .thisProcess: "\(Self.prefix)\(getpid())"
            }
        }

        private static let prefix = "org.waft.documents-"

        /// Whether a program's name is that of a process that has died without its end.
        fileprivate static func isDead(_ program: String) -> Bool {
            guard program.hasPrefix(prefix), let process = pid_t(program.dropFirst(prefix.count)) else { return false }
            return kill(process, 0) != 0 && errno == ESRCH
        }
    }

    /// - Throws: `CommandError`: `locked`; `noRoom` for an item that does not fit in memory.
    static func path(of arrival: Arrival, for reader: Reader) throws(CommandError) -> String {
        let program = reader.program
        let context = try CommandContext(isForgiving: true)
        let noFolder = "no folder in memory can hold its clear copy"
        guard let folder = ClearFolder(candidates: context.home.clearFolders, isSwept: false) else {
            throw tooLarge(arrival, noFolder)
        }
        let most = context.settings.clearQuota ?? folder.free / 2
        guard arrival.size <= most else {
            throw tooLarge(arrival, "its clear copy takes more than \(ByteCount.text(most)) of memory (clearQuota)")
        }
        let inbox = try context.inbox
        for name in folder.programs where Reader.isDead(name) { folder.end(name) }
        guard folder.folder(of: program) != nil else { throw tooLarge(arrival, noFolder) }
        do throws(LeavingError) {
            return try folder.copy(arrival, inbox: inbox, keys: ReceiverKeys.keys, for: program)
        } catch {
            if case .thisProcess = reader { folder.end(program) }
            throw Leaving.failure(error)
        }
    }

    /// Removes the copy of this process.
    static func end(_ arrival: Arrival) {
        guard arrival.protection.isSealed, let context = try? CommandContext(isForgiving: true) else { return }
        ClearFolder(candidates: context.home.clearFolders, isSwept: false)?.end(Reader.thisProcess.program)
    }

    private static func tooLarge(_ arrival: Arrival, _ reason: String) -> CommandError {
        CommandError(
            .noRoom, "\(arrival.number)  \(TerminalText.escaped(arrival.stored.name.text)): \(reason)",
            hint: "take it out with: waft inbox take")
    }
}
