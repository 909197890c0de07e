import CLinuxShims
import Glibc
package import Sharing
package import SystemCalls

/// The folder of clear copies of sealed items, in memory: each program has a folder in it, with a folder for each item.
package struct ClearFolder: Sendable {
    /// Absolute path.
    package let path: String
    /// Of a receiver: its lock, which says that it lives.
    private let hold: OpenFolder?

    /// Takes the first folder that can be used, and makes it if it is missing. Blocks on the disk.
    ///
    /// - Parameters:
    ///   - candidates: absolute paths; the folders above the last name of each exist.
    ///   - isSwept: for a receiver: whether to remove the remains of an earlier one, and to hold the folder.
    /// - Returns: nil unless one is on a tmpfs, belongs to this user and is closed to others.
    package init?(candidates: [String], isSwept: Bool = true) {
        guard let path = candidates.first(where: { (try? Self.own($0)) == true }) else { return nil }
        self.path = path
        hold = isSwept ? Self.hold(path) : nil
        if isSwept { removeAll() }
    }

    /// Makes a folder, and locks it for as long as the result is referred to.
    ///
    /// - Returns: nil if it cannot be made.
    private static func hold(_ path: String) -> OpenFolder? {
        // Another program may remove it before it is locked.
        for _ in 0..<100 {
            guard mkdir(path, 0o700) == 0 || errno == EEXIST,
                let folder = try? FileDescriptor.opening(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
            else { return nil }
            // It waits for a program that looks for the dead, which takes no time.
            guard flock(folder.raw, LOCK_SH) == 0 else { return nil }
            var (held, named) = (stat(), stat())
            if fstat(folder.raw, &held) == 0, lstat(path, &named) == 0, held.st_ino == named.st_ino {
                return OpenFolder(folder)
            }
        }
        return nil
    }

    /// The folder of a program that lives by itself, made if it is missing. Its copies stay while the result is referred
    /// to, also without a receiver.
    package func hold(_ program: String) -> OpenFolder? { Self.hold(path + "/" + program) }

    /// Removes the clear copies of dead processes.
    ///
    /// A living receiver holds the folder, and a program that lives by itself its own one: the number of a process says
    /// nothing, since another one may have it by now.
    ///
    /// - Parameters:
    ///   - candidates: as above.
    ///   - isOwn: whether a name is that of a program that lives by itself.
    package static func removeDead(candidates: [String], isOwn: (String) -> Bool) {
        for path in candidates {
            guard let folder = try? FileDescriptor.opening(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW) else { continue }
            var status = stat()
            guard fstat(folder.raw, &status) == 0, status.st_uid == geteuid() else { continue }
            let hasReceiver = flock(folder.raw, LOCK_EX | LOCK_NB) != 0
            for name in names(in: folder.raw) where !hasReceiver || isOwn(name) {
                let raw = openat(folder.raw, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                guard raw >= 0 else { continue }
                let program = FileDescriptor(owning: raw)
                guard flock(program.raw, LOCK_EX | LOCK_NB) == 0 else { continue }
                try? OwnTree.remove(name, in: folder.raw)
            }
            // It stays if something is in it.
            if !hasReceiver { rmdir(path) }
        }
    }

    /// - Returns: whether the folder is on a tmpfs.
    private static func own(_ path: String) throws(SystemError) -> Bool {
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw .last }
        let folder = try FileDescriptor.opening(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
        var status = stat()
        try systemCall { fstat(folder.raw, &status) }
        // Another user may have laid a trap where others may write.
        guard status.st_uid == geteuid() else { throw SystemError(EPERM) }
        if status.st_mode & 0o7777 != 0o700 { try systemCall { fchmod(folder.raw, 0o700) } }
        return CLinuxShims_is_tmpfs(folder.raw) != 0
    }

    /// The folder of a program, made if it is missing; nil if it cannot be made.
    /// - Parameter program: its identifier, one safe name.
    package func folder(of program: String) -> String? {
        let folder = path + "/" + program
        return mkdir(folder, 0o700) == 0 || errno == EEXIST ? folder : nil
    }

    /// Bytes that are free.
    package var free: UInt64 {
        var status = statvfs()
        return statvfs(path, &status) == 0 ? UInt64(status.f_bavail) &* UInt64(status.f_frsize) : 0
    }

    /// Makes the clear copy of an item.
    ///
    /// - Parameters:
    ///   - inbox: absolute path of the Inbox.
    ///   - program: the program that gets it.
    /// - Returns: its absolute path. A file can be read by its owner alone, and written by nobody.
    /// - Throws: `LeavingError`; then nothing of it is there.
    package func copy(
        _ arrival: Arrival, inbox: String, keys: FileKeys, for program: String
    ) throws(LeavingError) -> String {
        let what = "cannot open \(arrival.stored.name)"
        let holder = self.holder(arrival.number, program)
        remove(arrival.number, of: program)
        let name = arrival.stored.name.text
        do {
            let place = try FolderEntry(arrival.stored.path, inbox: inbox)
            try systemCall { mkdir(holder, 0o700) }
            let folder = try FileDescriptor.opening(holder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4_096, alignment: 4_096)
            defer { buffer.deallocate() }
            try OwnTree.copy(
                place.name, in: place.folder.raw, as: name, in: folder.raw, through: buffer, keys: keys,
                copied: { _ in })
            if arrival.protection.isSealed,
                try !ArrivedContents.areIn(name, in: folder.raw, arrival, at: place, keys, inbox: inbox)
            {
                throw SealedFileError.damaged(ArrivedContents.reason)
            }
            if arrival.item.kind != .tree {
                let isExecutable = try place.status().st_mode & 0o111 != 0
                try systemCall { fchmodat(folder.raw, name, isExecutable ? 0o500 : 0o400, 0) }
            }
        } catch {
            remove(arrival.number, of: program)
            if let error = error as? SealedFileError { throw LeavingError(what, error) }
            if let error = error as? StoredDigestError { throw LeavingError(what, error) }
            throw LeavingError(what, error as? SystemError ?? SystemError(EIO))
        }
        return holder + "/" + name
    }

    /// A clear copy that several programs read: one that is there stays as it is.
    ///
    /// - Parameters: as `copy`.
    /// - Throws: as `copy`.
    package func sharedCopy(
        _ arrival: Arrival, inbox: String, keys: FileKeys, for program: String
    ) throws(LeavingError) -> String {
        let name = arrival.stored.name.text
        // One copy is made at a time: another process finds this one whole.
        guard let programs = try? OpenFolder(.opening(path + "/" + program, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)) else {
            return try copy(arrival, inbox: inbox, keys: keys, for: program)
        }
        flock(programs.raw, LOCK_EX)
        defer { withExtendedLifetime(programs) {} }
        if let place = try? FolderEntry(arrival.stored.path, inbox: inbox),
            let folder = try? FileDescriptor.opening(
                holder(arrival.number, program), O_RDONLY | O_DIRECTORY | O_NOFOLLOW),
            (try? ArrivedContents.areIn(name, in: folder.raw, arrival, at: place, keys, inbox: inbox)) == true
        {
            return holder(arrival.number, program) + "/" + name
        }
        return try copy(arrival, inbox: inbox, keys: keys, for: program)
    }

    /// The state of a clear copy after its call.
    package enum CopyState: Hashable, Sendable {
        case there
        /// A program has moved or removed it.
        case taken
        /// Its folder is gone too: the memory was cleared, as at the end of a session.
        case cleared
    }

    /// Removes the clear copy of an item.
    @discardableResult
    package func remove(_ number: ArrivalNumber, of program: String) -> CopyState {
        guard let folder = try? FileDescriptor.opening(holder(number, program), O_RDONLY | O_DIRECTORY | O_NOFOLLOW),
            var contents = try? FolderContents.make(of: folder.raw),
            let parent = try? FileDescriptor.opening(path + "/" + program, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
        else { return .cleared }
        let isThere = (try? contents.next()) ?? nil != nil
        // `removeAll` renames a folder before it empties it: no program has taken the copy from a renamed folder.
        var (listed, named) = (stat(), stat())
        let isHidden =
            fstat(folder.raw, &listed) != 0 || fstatat(parent.raw, "\(number)", &named, AT_SYMLINK_NOFOLLOW) != 0
            || (listed.st_dev, listed.st_ino) != (named.st_dev, named.st_ino)
        try? OwnTree.remove("\(number)", in: parent.raw)
        return isThere ? .there : isHidden ? .cleared : .taken
    }

    /// Removes the clear copies of a program, and its folder.
    package func end(_ program: String) {
        guard let top = try? FileDescriptor.opening(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW) else { return }
        try? OwnTree.remove(program, in: top.raw)
    }

    /// Removes all clear copies. The folders of the programs stay: the sandboxes of running ones know them.
    ///
    /// - Parameter isKept: whether the copy of an item, by its number, stays with a program.
    package func removeAll(besides isKept: (_ program: String, _ number: String) -> Bool = { _, _ in false }) {
        guard let top = try? FileDescriptor.opening(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW) else { return }
        var removed = 0
        for program in Self.names(in: top.raw) {
            let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
            let raw = openat(top.raw, program, flags)
            guard raw >= 0 else { continue }
            let folder = FileDescriptor(owning: raw)
            for name in Self.names(in: folder.raw) where !isKept(program, name) {
                // First out of sight: a folder that is still there and empty means that its program has taken the copy.
                let hidden = ".removed-\(getpid())-\(removed)"
                removed += 1
                if renameat(folder.raw, name, top.raw, hidden) == 0 { try? OwnTree.remove(hidden, in: top.raw) }
            }
        }
    }

    /// Removes all clear copies and the folders.
    package func end() {
        removeAll()
        if let top = try? FileDescriptor.opening(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW) {
            for program in Self.names(in: top.raw) { unlinkat(top.raw, program, AT_REMOVEDIR) }
        }
        rmdir(path)
    }

    private static func names(in folder: Int32) -> [String] {
        guard var contents = try? FolderContents.make(of: folder) else { return [] }
        var names: [String] = []
        while let name = try? contents.next() { names.append(String(cString: name)) }
        return names
    }

    private func holder(_ number: ArrivalNumber, _ program: String) -> String { "\(path)/\(program)/\(number)" }
}
