import Glibc
import Inbox
import Lines
import Settings
import Sharing
import Synchronization
import SystemCalls

/// The clear copy of a sealed item, for a program that a person has chosen. It lies in memory; the receiver removes it when
/// it locks or ends.
enum ClearDocument {
    /// A holder of copies, beside the handlers.
    enum Reader {
        /// The applications that a person chooses, all together: a copy stays after the verb, and is the same for all.
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

        fileprivate static func isProcess(_ program: String) -> Bool { program.hasPrefix(prefix) }
    }

    /// The folder of this process, locked while it lives.
    private static let held = Mutex<OpenFolder?>(nil)

    /// Removes the copies that dead processes of this home have left.
    static func removeDead(_ home: Home) {
        ClearFolder.removeDead(candidates: home.clearFolders, isOwn: Reader.isProcess)
    }

    /// - Throws: `CommandError`: `locked`; `noRoom` for an item that does not fit in memory.
    static func path(of arrival: Arrival, for reader: Reader) throws(CommandError) -> String {
        let program = reader.program
        let context = try CommandContext.forgiving
        let noFolder = "no folder in memory can hold its clear copy"
        guard let folder = ClearFolder(candidates: context.home.clearFolders, isSwept: false) else {
            throw tooLarge(arrival, noFolder)
        }
        let most = context.settings.clearQuota ?? folder.free / 2
        guard arrival.size <= most else {
            throw tooLarge(arrival, "its clear copy takes more than \(ByteCount.text(most)) of memory (clearQuota)")
        }
        let inbox = try context.inbox
        let isThere =
            switch reader {
            case .applications: folder.folder(of: program) != nil
            case .thisProcess:
                held.withLock { held in
                    if held == nil { held = folder.hold(program) }
                    return held != nil
                }
            }
        guard isThere else { throw tooLarge(arrival, noFolder) }
        do throws(LeavingError) {
            return switch reader {
            case .applications:
                try folder.sharedCopy(arrival, inbox: inbox, keys: ReceiverKeys.keys, for: program)
            case .thisProcess: try folder.copy(arrival, inbox: inbox, keys: ReceiverKeys.keys, for: program)
            }
        } catch {
            if case .thisProcess = reader { end(program, in: folder) }
            throw Leaving.failure(error)
        }
    }

    /// Removes the copy of this process.
    static func end(_ arrival: Arrival) {
        guard arrival.protection.isSealed, let context = try? CommandContext.forgiving else { return }
        guard let folder = ClearFolder(candidates: context.home.clearFolders, isSwept: false) else { return }
        end(Reader.thisProcess.program, in: folder)
    }

    private static func end(_ program: String, in folder: ClearFolder) {
        folder.end(program)
        held.withLock { $0 = nil }
    }

    private static func tooLarge(_ arrival: Arrival, _ reason: String) -> CommandError {
        CommandError(
            .noRoom, "\(arrival.number)  \(TerminalText.escaped(arrival.stored.name.text)): \(reason)",
            hint: "take it out with: waft inbox take")
    }
}
