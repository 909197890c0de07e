import Foundation
import Sharing

/// The location of a journal: `journal.sqlite` in a folder, with SQLite's write-ahead log and its index beside it.
///
/// No code here may open the file itself while a connection to it is open: by POSIX, closing any descriptor of the file
/// releases SQLite's own locks.
struct JournalFile: Sendable {
    let folder: String

    var path: String { folder + "/journal.sqlite" }
    var logPath: String { path + "-wal" }
    /// The file that the one writer locks.
    var lockPath: String { folder + "/journal.lock" }

    /// Hint for a damaged file.
    var remedy: String { "when a receiver starts, it moves journal.sqlite away and starts a new one" }
    /// Hint for a file of a newer version.
    var wayOut: String { "move journal.sqlite, and the files beside it whose names begin so, away to start a new one" }

    /// Creates a missing folder (0700) and a missing file (0600), and removes all access of other users to the file and
    /// to the files beside it.
    func prepare() throws(JournalAccessError) {
        try makeFolder()
        let size = try size()
        if size ?? 0 == 0, Self.size(of: logPath) ?? 0 > 0 {
            // SQLite would remove the log, which may hold the only remaining data.
            throw JournalAccessError(
                "could not open the journal: \(path) is missing beside its log \(logPath): \(remedy)",
                isDamage: true)
        }
        if size == nil { try makeFile() }
        // The file has no valuable data yet. The folders must survive a power cut first: they may be new, and the
        // process that created them may have died before it synced them.
        if size ?? 0 == 0 { syncFolders() }
        for path in [path, logPath, path + "-shm", path + "-journal"] { try protect(path) }
    }

    /// The size of the file in bytes; nil if it does not exist.
    ///
    /// - Throws: if the file cannot be a database. SQLite takes a file of one byte as an empty one, and writes to it.
    func size() throws(JournalAccessError) -> Int64? {
        var status = stat()
        guard stat(path, &status) == 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw Self.failed("look at", path)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw JournalAccessError("could not open the journal: \(path) is not a file: \(remedy)", isDamage: true)
        }
        guard status.st_size == 0 || status.st_size >= 512 else {
            throw JournalAccessError(
                "could not open the journal: \(path) is damaged, or is not a journal: \(remedy)", isDamage: true)
        }
        return Int64(status.st_size)
    }

    private func makeFolder() throws(JournalAccessError) {
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder) {
            if isFolder.boolValue { return }
            throw JournalAccessError("could not open the journal: \(folder) is not a folder")
        }
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw JournalAccessError("could not make the folder of the journal, \(folder): \(Self.reason(of: error))")
        }
    }

    private func makeFile() throws(JournalAccessError) {
        let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if file < 0, errno == EEXIST { return }
        guard file >= 0 else { throw Self.failed("make", path) }
        close(file)
        // The new name must survive a power cut as surely as the file's contents.
        let directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw Self.failed("sync", folder) }
        defer { close(directory) }
        guard fsync(directory) == 0 else { throw Self.failed("sync", folder) }
    }

    /// Syncs the folder and all folders above it. Folders that cannot be synced do not belong to this user.
    private func syncFolders() {
        var url = URL(fileURLWithPath: folder)
        while true {
            let directory = open(url.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            if directory >= 0 {
                fsync(directory)
                close(directory)
            }
            if url.path == "/" { return }
            url.deleteLastPathComponent()
        }
    }

    private func protect(_ path: String) throws(JournalAccessError) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o777 != 0o600 else {
            return
        }
        guard chmod(path, 0o600) == 0 else { throw Self.failed("take from others", path) }
    }

    private static func size(of path: String) -> Int64? {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : nil
    }

    private static func failed(_ what: String, _ path: String) -> JournalAccessError {
        let cause = errno
        return JournalAccessError(
            "could not \(what) \(path): \(String(cString: strerror(cause)))",
            code: cause == ENOSPC || cause == EDQUOT ? .noRoom : .storage)
    }

    private static func reason(of error: any Error) -> String {
        let underlying = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
        if let underlying, underlying.domain == NSPOSIXErrorDomain, let code = Int32(exactly: underlying.code) {
            return String(cString: strerror(code))
        }
        return "it cannot be written there"
    }
}

/// The lock of a journal's one writer. It is released with the last reference, or by the kernel when the process ends.
///
/// SQLite itself allows several writers. But each would take the other's unsettled arrivals for the remains of a crash.
final class JournalLock: Sendable {
    /// Owned.
    private let descriptor: Int32

    init(_ file: JournalFile) throws(JournalAccessError) {
        let path = file.lockPath
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw JournalAccessError(
                "could not make the lock of the journal, \(path): \(String(cString: strerror(errno)))")
        }
        guard Self.lock(descriptor) else {
            // `deinit` closes it.
            let cause = errno
            throw JournalAccessError(
                cause == EWOULDBLOCK
                    ? "could not open the journal: another receiver is using \(file.path)"
                    : "could not lock the journal, \(path): \(String(cString: strerror(cause)))")
        }
    }

    /// Commands hold the lock briefly to record their actions while no receiver runs. A starting receiver then waits.
    private static let timeout = 200
    private static let nap = timespec(tv_sec: 0, tv_nsec: 10_000_000)

    /// - Returns: false with `errno` set.
    private static func lock(_ descriptor: Int32) -> Bool {
        for _ in 0..<timeout {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
            guard errno == EWOULDBLOCK || errno == EINTR else { return false }
            var nap = nap
            nanosleep(&nap, nil)
        }
        return flock(descriptor, LOCK_EX | LOCK_NB) == 0
    }

    deinit {
        // The file stays: after its removal another process could lock a new file of the same name.
        close(descriptor)
    }
}
