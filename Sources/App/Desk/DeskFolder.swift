import Foundation
import Glibc
import SystemCalls
import WebPages

/// The private folder of a desk. Its lock shows that the desk lives: the next desk removes the folders of desks that were
/// killed.
final class DeskFolder: Sendable {
    private static let prefix = "desk-"

    let path: String
    /// Owned; the lock is on it.
    private let descriptor: Int32

    /// - Parameter run: the private folder of the session.
    /// - Throws: `SystemError`.
    init(in run: String) throws(SystemError) {
        // One desk at a time: a folder that has no lock yet would seem to be of a desk that was killed.
        let gate = open(run, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard gate >= 0 else { throw .last }
        defer { close(gate) }
        try systemCall { flock(gate, LOCK_EX) }
        Self.sweep(run)
        path = run + "/" + Self.prefix + WebSecret.make()
        let path = path
        try systemCall { mkdir(path, 0o700) }
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw .last }
    }

    deinit { close(descriptor) }

    func remove() { try? FileManager.default.removeItem(atPath: path) }

    private static func sweep(_ run: String) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: run)) ?? []
        for name in names where name.hasPrefix(prefix) {
            let path = run + "/" + name
            let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { try? FileManager.default.removeItem(atPath: path) }
        }
    }
}
