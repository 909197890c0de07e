import Foundation
import NIOCore
import Synchronization

/// The sendings of windows: each item goes from the browser through to the peer, and is stored nowhere.
///
/// `waft send` asks a program for each item when the peer has accepted it (`--source`). Here that program is a script. It
/// writes the number of the item into one pipe, and copies the bytes from another.
final class BrowserSendings: Sendable {
    /// Sendings at the same time.
    static let maximum = 32

    private let program: DeskProgram
    private let folder: String
    private let state = Mutex(State())

    private struct State {
        /// In the order in which they were asked for, and whether a window follows them.
        var sendings: [(sending: BrowserSending, isFollowed: Bool)] = []

        func place(of name: String) -> Int? { sendings.firstIndex { $0.sending.name == name } }
    }

    init(_ program: DeskProgram, folder: String) {
        (self.program, self.folder) = (program, folder)
    }

    subscript(name: String) -> BrowserSending? {
        state.withLock { state in state.place(of: name).map { state.sendings[$0].sending } }
    }

    /// - Returns: nil if there are too many. The oldest one that no window follows makes room.
    /// - Throws: an error of the disk.
    func begin(_ wanted: BrowserSending.Wanted) throws -> BrowserSending? {
        let sending = try BrowserSending(wanted, program, below: folder)
        let (isTaken, left) = state.withLock { state -> (Bool, BrowserSending?) in
            var left: BrowserSending?
            if state.sendings.count >= Self.maximum {
                guard let place = state.sendings.firstIndex(where: { !$0.isFollowed }) else { return (false, nil) }
                left = state.sendings.remove(at: place).sending
            }
            state.sendings.append((sending, false))
            return (true, left)
        }
        left?.remove()
        if !isTaken { sending.remove() }
        return isTaken ? sending : nil
    }

    /// - Returns: nil if there is no such sending, or a window follows it already: its items are sent once.
    func follow(_ name: String) -> BrowserSending? {
        state.withLock { state in
            guard let place = state.place(of: name), !state.sendings[place].isFollowed else { return nil }
            state.sendings[place].isFollowed = true
            return state.sendings[place].sending
        }
    }

    func end(_ sending: BrowserSending) {
        state.withLock { state in state.sendings.removeAll { $0.sending === sending } }
        sending.remove()
    }
}
