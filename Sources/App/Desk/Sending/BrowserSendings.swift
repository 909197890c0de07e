import Foundation
import NIOCore
import Synchronization

/// What windows are sending: each item goes from the browser through to the peer, and is stored nowhere.
///
/// `waft send` asks a program for each item when the peer has accepted it (`--source`). Here that program is a script that
/// says so by one pipe, and copies the bytes from another.
final class BrowserSendings: Sendable {
    /// Sendings at the same time.
    static let maximum = 32

    private let program: DeskProgram
    private let folder: String
    private let running = Mutex<[String: BrowserSending]>([:])

    init(_ program: DeskProgram, folder: String) {
        (self.program, self.folder) = (program, folder)
    }

    subscript(name: String) -> BrowserSending? { running.withLock { $0[name] } }

    /// - Returns: nil if there are too many.
    /// - Throws: an error of the disk.
    func begin(_ wanted: BrowserSending.Wanted) throws -> BrowserSending? {
        guard running.withLock({ $0.count < Self.maximum }) else { return nil }
        let sending = try BrowserSending(wanted, program, below: folder)
        running.withLock { $0[sending.name] = sending }
        return sending
    }

    func end(_ sending: BrowserSending) {
        running.withLock { _ = $0.removeValue(forKey: sending.name) }
        sending.remove()
    }
}
