import Glibc
package import Sharing
import Synchronization
import SystemCalls

/// Whether what lies at the Inbox's path is the Inbox of before.
///
/// | the mark in the folder | the folder | it is |
/// |---|---|---|
/// | any, or none | nothing was ever known at the path | the Inbox from now on |
/// | the known one | any: it may have been moved or restored | the Inbox |
/// | none: handlers and people may remove it | the known one, or made here just now | the Inbox; the mark is written anew |
/// | none | another: a disk is not mounted | another one |
/// | another one | any | another one |
///
/// A folder that is missing is made where the one above it lies on the file system on which the Inbox lay.
final class InboxRecognition: Sendable {
    private let path: String
    private let memory: any InboxMemory
    private let state: Mutex<State>

    private struct State {
        var known: KnownInbox?
        /// With what it was recognised last.
        var seen: (stamp: FileStamp, folder: FileIdentity)?
    }

    /// - Throws: where it cannot be read what is known.
    init(at path: String, _ memory: any InboxMemory) throws(JournalFault) {
        self.path = path
        self.memory = memory
        state = Mutex(State(known: try memory.knownInbox(at: path)))
    }

    /// Whether the Inbox is made where nothing lies at its path.
    var mayMake: Bool {
        guard let known = state.withLock({ $0.known }) else { return true }
        var status = stat()
        return stat(SmallFile.folder(of: path), &status) == 0 && UInt64(status.st_dev) == known.folder.device
    }

    /// - Parameter isNew: whether it was made just now.
    /// - Throws: `TransferFault.anotherInbox`; `storage` where the mark cannot be written, or that not be remembered.
    func check(_ folder: OpenFolder, isNew: Bool) throws(TransferFault) {
        try state.withLock { state throws(TransferFault) in
            let identity = try Self.identity(of: folder)
            if let seen = state.seen, seen.folder == identity, seen.stamp == InboxMark.stamp(in: folder) { return }
            let mark = InboxMark.read(in: folder)
            if let known = state.known {
                let isKnown = mark == known.id || mark == nil && (isNew || identity == known.folder)
                guard isKnown else { throw TransferFault.anotherInbox }
            }
            try settle(folder, identity, mark: mark, &state)
        }
    }

    /// Takes what lies at the path for the Inbox from now on.
    func adopt(_ folder: OpenFolder) throws(TransferFault) {
        try state.withLock { state throws(TransferFault) in
            state.known = nil
            try settle(folder, try Self.identity(of: folder), mark: InboxMark.read(in: folder), &state)
        }
    }

    private func settle(
        _ folder: OpenFolder, _ identity: FileIdentity, mark: String?, _ state: inout State
    ) throws(TransferFault) {
        let now = KnownInbox(id: mark ?? state.known?.id ?? InboxMark.newID(), folder: identity)
        do throws(SystemError) {
            if mark == nil { try InboxMark.write(now.id, in: folder) }
        } catch {
            throw .unreachable(error)
        }
        if now != state.known {
            do throws(JournalFault) {
                try memory.remember(now, at: path)
            } catch {
                throw TransferFault(.storage, error.description)
            }
            state.known = now
        }
        state.seen = InboxMark.stamp(in: folder).map { ($0, identity) }
    }

    private static func identity(of folder: OpenFolder) throws(TransferFault) -> FileIdentity {
        var status = stat()
        guard fstat(folder.raw, &status) == 0 else { throw .unreachable(.last) }
        return FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }
}

extension TransferFault {
    /// Nothing is stored in a folder that is not the Inbox of before. Said to senders.
    package static let anotherInbox = TransferFault(
        .noRoom, "the Inbox is not the one of before; is it mounted?")
}
