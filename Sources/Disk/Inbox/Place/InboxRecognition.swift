import Glibc
package import Sharing
import Synchronization
import SystemCalls

/// Decides whether the folder at the Inbox's path is the Inbox that was there before.
///
/// | the mark in the folder | the folder | it is |
/// |---|---|---|
/// | any or none | nothing was known at the path | the Inbox from now on |
/// | the known one | any: it may have been moved or restored | the Inbox |
/// | none: it may have been removed | the known one, or created just now | the Inbox; the mark is written again |
/// | none | another one: a disk is not mounted | another folder |
/// | another one | any | another folder |
///
/// A missing folder is created only if its parent is on the file system on which the Inbox was.
final class InboxRecognition: Sendable {
    private let path: String
    private let memory: any InboxMemory
    private let state: Mutex<State>

    private struct State {
        var known: KnownInbox?
        /// The mark's stamp and the folder at the last recognition. While both are unchanged, the mark is not read.
        var seen: (stamp: FileStamp, folder: FileIdentity)?
    }

    /// - Throws: if the memory cannot be read.
    init(at path: String, _ memory: any InboxMemory) throws(JournalError) {
        self.path = path
        self.memory = memory
        state = Mutex(State(known: try memory.knownInbox(at: path)))
    }

    /// Whether a missing Inbox may be created.
    var mayMake: Bool {
        guard let known = state.withLock({ $0.known }) else { return true }
        var status = stat()
        return stat(SmallFile.folder(of: path), &status) == 0 && UInt64(status.st_dev) == known.folder.device
    }

    /// - Parameter isNew: whether the folder was created just now.
    /// - Throws: `TransferError.anotherInbox`; `storage` if the mark cannot be written or the memory cannot be updated.
    func check(_ folder: OpenFolder, isNew: Bool) throws(TransferError) {
        try state.withLock { state throws(TransferError) in
            let identity = try Self.identity(of: folder)
            if let seen = state.seen, seen.folder == identity, seen.stamp == InboxMark.stamp(in: folder) { return }
            let mark = InboxMark.read(in: folder)
            if let known = state.known {
                let isKnown = mark == known.id || mark == nil && (isNew || identity == known.folder)
                guard isKnown else { throw TransferError.anotherInbox }
            }
            try settle(folder, identity, mark: mark, &state)
        }
    }

    /// Makes this folder the Inbox from now on.
    func adopt(_ folder: OpenFolder) throws(TransferError) {
        try state.withLock { state throws(TransferError) in
            state.known = nil
            try settle(folder, try Self.identity(of: folder), mark: InboxMark.read(in: folder), &state)
        }
    }

    private func settle(
        _ folder: OpenFolder, _ identity: FileIdentity, mark: String?, _ state: inout State
    ) throws(TransferError) {
        let now = KnownInbox(id: mark ?? state.known?.id ?? InboxMark.newID(), folder: identity)
        do throws(SystemError) {
            if mark == nil { try InboxMark.write(now.id, in: folder) }
        } catch {
            throw .unreachable(error)
        }
        if now != state.known {
            do throws(JournalError) {
                try memory.remember(now, at: path)
            } catch {
                throw TransferError(.storage, error.description)
            }
            state.known = now
        }
        state.seen = InboxMark.stamp(in: folder).map { ($0, identity) }
    }

    private static func identity(of folder: OpenFolder) throws(TransferError) -> FileIdentity {
        var status = stat()
        guard fstat(folder.raw, &status) == 0 else { throw .unreachable(.last) }
        return FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }
}

extension TransferError {
    /// Nothing is stored in a folder that is not the known Inbox. Senders see this message.
    package static let anotherInbox = TransferError(
        .noRoom, "the Inbox is not the known one; is its disk mounted?")
}
