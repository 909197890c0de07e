import Foundation
package import Sharing
private import Synchronization
import SystemCalls

/// The contacts in their file: read and changed by the daemon and by commands at the same time.
///
/// A change takes a lock on the folder, reads the current file, and replaces it with a new file: readers see the old
/// contents or the new ones, also after a power cut. All calls may block on the disk. If nothing has changed,
/// `snapshot` only reads the file's stamp.
///
/// A copy with the same contents is stored beside the file. If the file is damaged or missing, the next call moves it
/// aside and restores the copy. If the copy cannot be used either, both stay as they are and every call throws: an
/// empty book would silently forget the blocked peers.
package final class ContactBook: Sendable {
    /// Absolute: `contacts.json` in the state folder.
    package let path: String
    /// The copy.
    package var copyPath: String { path + ".last" }
    /// Called with one line after a copy has replaced the file, or could not replace it.
    private let restored: @Sendable (String) -> Void

    private struct Reading {
        var snapshot: ContactSnapshot
        var stamp: FileStamp
        /// Whether an equal stamp proves that the file is unchanged.
        var isSettled: Bool
    }

    private let reading = Mutex<Reading?>(nil)

    /// - Parameter restored: called with one line after a copy has replaced the file, or could not replace it. Runs on
    ///   the caller's thread.
    package init(path: String, restored: @escaping @Sendable (String) -> Void = { _ in }) {
        self.path = path
        self.restored = restored
    }

    /// The contacts in the file now, without those whose end has come; empty if neither the file nor its copy exists.
    ///
    /// - Throws: `ContactError` `damaged` if the file is too large or invalid and has no good copy; `storage` if it
    ///   cannot be read.
    package func snapshot() throws(ContactError) -> ContactSnapshot {
        do {
            if let known = known(try FileStamp(of: path)) { return known.current(at: .now) }
        } catch {
            guard error.number == ENOENT || error.number == ENOTDIR else { throw .unreadable(path, error) }
        }
        return try load(isLocked: false).current(at: .now)
    }

    /// A peer as it is written for the user. If the contacts cannot be read, every peer is a stranger.
    /// - Parameter name: the peer's name for itself, nil if it does not tell it; ignored for a contact.
    package func introduction(of peer: PeerID, callingItself name: String?) -> Introduction {
        ((try? snapshot()) ?? .empty).introduction(of: peer, callingItself: name)
    }

    private func known(_ stamp: FileStamp) -> ContactSnapshot? {
        reading.withLock { reading in
            guard let reading, reading.isSettled, reading.stamp == stamp else { return nil }
            return reading.snapshot
        }
    }

    /// - Parameter isLocked: whether the caller holds the folder's lock.
    private func load(isLocked: Bool) throws(ContactError) -> ContactSnapshot {
        var damage: ContactError?
        do {
            if let snapshot = try read() { return snapshot }
        } catch {
            guard error.code == .damaged else { throw error }
            damage = error
        }
        let copy: [UInt8]?
        do {
            copy = try Self.file(copyPath)?.bytes
            if let copy { _ = try Self.snapshot(copy, at: copyPath) }
        } catch {
            throw damage ?? error
        }
        guard let copy else {
            if let damage { throw damage }
            return .empty
        }
        return try restore(copy, isLocked: isLocked)
    }

    /// Replaces the file with the copy, unless another process has restored it already.
    private func restore(_ copy: [UInt8], isLocked: Bool) throws(ContactError) -> ContactSnapshot {
        do throws(SystemError) {
            let lock: FolderLock? = isLocked ? nil : try FolderLock.taking(SmallFile.folder(of: path))
            if let snapshot = try? read() { return snapshot }
            let isThere = (try? FileStamp(of: path)) != nil
            let aside = isThere ? try DamagedFile.setAside(path) : nil
            try SmallFile.replace(path, with: copy, mode: 0o600)
            lock?.release()
            restored(
                "the contacts were \(aside.map { "damaged, and were moved to \($0)" } ?? "missing"); their last good copy is "
                    + "in use: see waft contacts")
        } catch {
            // The disk cannot be written: the contents of the copy are used, and the file stays as it is.
            restored("\(path) is damaged, and its last good copy cannot replace it: \(error)")
        }
        return try Self.snapshot(copy, at: copyPath)
    }

    /// - Returns: nil if the file does not exist.
    private func read() throws(ContactError) -> ContactSnapshot? {
        let now = FileStamp.now()
        guard let file = try Self.file(path) else { return nil }
        let snapshot = try Self.snapshot(file.bytes, at: path)
        keep(Reading(snapshot: snapshot, stamp: file.stamp, isSettled: !file.stamp.isRecent(at: now)))
        return snapshot
    }

    private static func file(_ path: String) throws(ContactError) -> (bytes: [UInt8], stamp: FileStamp)? {
        do {
            return try SmallFile.stamped(path, limit: ContactBounds.bookBytes)
        } catch {
            if error == .missing { return nil }
            throw ContactError(path, limit: ContactBounds.bookBytes, error)
        }
    }

    private static func snapshot(_ bytes: [UInt8], at path: String) throws(ContactError) -> ContactSnapshot {
        do {
            return try BookDocument(bytes: bytes).snapshot()
        } catch {
            throw .damaged(path, (error as? BookDocument.FormatError)?.reason ?? "\(error)")
        }
    }

    private func keep(_ new: Reading) {
        reading.withLock { $0 = new }
    }

    /// Changes the contacts: makes all changes of `body`, or none if `body` or the disk fails. Does not write if
    /// nothing has changed. Contacts whose end has come are forgotten by the next change.
    ///
    /// - Throws: the errors of `body`; `ContactError` `damaged`, `full` if the file would become too large, `storage`.
    @discardableResult
    package func change<Value>(
        _ body: (inout ContactDraft) throws(ContactError) -> Value
    ) throws(ContactError) -> Value {
        let lock: FolderLock
        do {
            lock = try FolderLock.taking(SmallFile.folder(of: path))
        } catch {
            throw .unwritable(path, error)
        }
        let before = try load(isLocked: true).current(at: .now)
        var draft = ContactDraft(before)
        let value = try body(&draft)
        let after = draft.snapshot
        guard
            after.contacts != before.contacts || after.blockedStrangers != before.blockedStrangers
                || after.groups != before.groups
        else { return value }
        try write(after)
        lock.release()
        return value
    }

    private func write(_ snapshot: ContactSnapshot) throws(ContactError) {
        guard let bytes = try? BookDocument(snapshot).bytes() else {
            throw .unwritable(path, SystemError(EINVAL))
        }
        guard bytes.count <= ContactBounds.bookBytes else {
            throw ContactError(.full, "the contacts take more than \(ContactBounds.bookBytes >> 20) MiB")
        }
        do {
            // The copy first: a crash in between leaves two good files.
            try SmallFile.replace(copyPath, with: bytes, mode: 0o600)
            try SmallFile.replace(path, with: bytes, mode: 0o600)
        } catch {
            throw .unwritable(path, error)
        }
    }
}

extension ContactBook {
    /// As `ContactDraft.allow`. This and all calls below throw the errors of their `ContactDraft` call and of `change`.
    @discardableResult
    package func allow(
        _ id: PeerID, named name: ContactName, _ verification: Verification
    ) throws(ContactError) -> Contact {
        try change { draft throws(ContactError) in try draft.allow(id, named: name, verification) }
    }

    /// - Parameter text: as in `ContactSnapshot.find`.
    /// - Returns: the contact under its old name.
    @discardableResult
    package func rename(_ text: String, to name: ContactName) throws(ContactError) -> Contact {
        try change(text) { draft, contact throws(ContactError) in try draft.rename(contact.id, to: name) }
    }

    /// - Parameter text: as in `ContactSnapshot.find`.
    /// - Returns: the contact as it was.
    @discardableResult
    package func set(_ text: String, _ body: (inout Contact) -> Void) throws(ContactError) -> Contact {
        try change(text) { draft, contact throws(ContactError) in try draft.set(contact.id, body) }
    }

    /// - Parameter text: as in `ContactSnapshot.find`.
    /// - Returns: the contact that was forgotten.
    @discardableResult
    package func forget(_ text: String, at time: WallTime) throws(ContactError) -> Contact {
        try change(text) { draft, contact throws(ContactError) in try draft.forget(contact.id, at: time) }
    }

    /// - Parameter name: the name that a stranger uses for itself.
    package func block(_ id: PeerID, callingItself name: String, at time: WallTime) throws(ContactError) {
        try change { draft throws(ContactError) in try draft.block(id, callingItself: name, at: time) }
    }

    /// - Returns: whether the peer was blocked.
    @discardableResult
    package func unblock(_ id: PeerID) throws(ContactError) -> Bool {
        try change { draft throws(ContactError) in draft.unblock(id) }
    }

    /// Stores an address at which a contact was reached. Does not write if this is already the newest address and was
    /// stored within the last day: this is called at every connection.
    package func remember(_ address: KnownAddress, of id: PeerID) throws(ContactError) {
        guard let contact = try snapshot()[id] else { return }
        if let newest = contact.addresses.first, newest.isSamePlace(as: address) {
            let (age, isFar) = address.lastGood.milliseconds.subtractingReportingOverflow(newest.lastGood.milliseconds)
            if !isFar, (0..<86_400_000).contains(age) { return }
        }
        try change { draft throws(ContactError) in draft.remember(address, of: id) }
    }

    private func change(
        _ text: String, _ body: (inout ContactDraft, Contact) throws(ContactError) -> Void
    ) throws(ContactError) -> Contact {
        try change { draft throws(ContactError) in
            let contact = try draft.before.find(text)
            try body(&draft, contact)
            return contact
        }
    }
}
