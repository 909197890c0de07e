import Foundation
package import Sharing
private import Synchronization
import SystemCalls

/// The visibility in its file. The daemon and commands read and change it; two clocks limit a temporary choice.
///
/// A temporary choice ends at its end by the system's time, or when its length has passed since this process read it,
/// whichever is first: a clock that is set back does not prolong it, and after a restart it lasts at most its length.
/// All calls may block on the disk.
package final class VisibilityFile: Sendable {
    /// Absolute: `visibility.json` in the state folder.
    package let path: String

    /// The current visibility, and the next change.
    package struct State: Hashable, Sendable {
        package var visibility: Visibility
        /// The end of a temporary choice, and the visibility after it; nil for a lasting choice.
        package var next: Next?

        package init(visibility: Visibility, next: Next?) {
            self.visibility = visibility
            self.next = next
        }

        package struct Next: Hashable, Sendable {
            package var remaining: Duration
            package var visibility: Visibility

            package init(remaining: Duration, visibility: Visibility) {
                self.remaining = remaining
                self.visibility = visibility
            }

            /// `remaining`, rounded up.
            package var seconds: Int64 {
                let (seconds, rest) = remaining.components
                return rest > 0 ? seconds + 1 : seconds
            }
        }
    }

    /// The clocks that measure a temporary choice.
    package struct Clocks: Sendable {
        package var wall: @Sendable () -> WallTime
        /// A clock that cannot be set; it continues while the machine sleeps.
        package var steady: @Sendable () -> ContinuousClock.Instant

        package init(
            wall: @escaping @Sendable () -> WallTime, steady: @escaping @Sendable () -> ContinuousClock.Instant
        ) {
            self.wall = wall
            self.steady = steady
        }

        package static let system = Clocks(wall: { .now }, steady: { .now })
    }

    private struct Reading {
        var choice: VisibilityChoice
        var mark: UInt32?
        var stamp: FileStamp?
        var isSettled: Bool
        /// The end of the temporary choice by the steady clock.
        var deadline: ContinuousClock.Instant?
    }

    private let clocks: Clocks
    private let reading = Mutex<Reading?>(nil)

    package init(path: String, clocks: Clocks = .system) {
        self.path = path
        self.clocks = clocks
    }

    /// The current visibility; `contacts` if there is no file.
    ///
    /// - Throws: `ContactError` `damaged`, `storage`; the caller then uses `contacts`.
    package func state() throws(ContactError) -> State {
        let reading = try current()
        let (wall, steady) = (clocks.wall(), clocks.steady())
        guard let change = reading.choice.nextChange(at: wall), let deadline = reading.deadline, steady < deadline
        else {
            return State(visibility: reading.choice.lasting, next: nil)
        }
        return State(
            visibility: reading.choice.current(at: wall),
            next: State.Next(
                remaining: min(.milliseconds(change.in), deadline - steady), visibility: change.to))
    }

    /// The current visibility; `contacts` if the file cannot be read.
    package var visibility: Visibility { (try? state())?.visibility ?? .contacts }

    /// Stores a lasting or temporary choice. It replaces a damaged file, because the choice is all that the file holds.
    ///
    /// - Throws: `ContactError` `unfit` for a time that is too long, `storage`.
    package func choose(_ visibility: Visibility, for length: Duration? = nil) throws(ContactError) {
        try change(mark: .random(in: 0 ... .max)) { before throws(ContactError) in
            try before.choosing(visibility, for: length, at: clocks.wall())
        }
    }

    /// A random number that each call of `choose` replaces; nil before the first. It shows that the user has chosen
    /// again, even if the visibility is the same.
    ///
    /// - Throws: as `state`.
    package func mark() throws(ContactError) -> UInt32? { try current().mark }

    /// For the start of the daemon, before any other call: see `VisibilityChoice.restarted`.
    ///
    /// - Throws: `ContactError` `damaged`, `storage`.
    package func restart() throws(ContactError) {
        let choice = try read().choice
        let restarted = choice.restarted(at: clocks.wall())
        if restarted != choice { try change { $0.restarted(at: self.clocks.wall()) } }
    }

    /// For the daemon, at the end of the time from `state`: stores that the temporary choice has ended, so that it does
    /// not begin again after a restart with the clock set back. Does nothing if it has not ended.
    ///
    /// - Throws: as `restart`.
    package func settle() throws(ContactError) {
        let choice = try current().choice
        guard choice.passing != nil, try state().next == nil else { return }
        // The user may have made another choice meanwhile.
        try change { $0 == choice ? VisibilityChoice($0.lasting) : $0 }
    }

    /// - Parameter mark: the mark of the new choice; nil keeps the previous one.
    private func change(
        mark: UInt32? = nil,
        _ body: (VisibilityChoice) throws(ContactError) -> VisibilityChoice
    ) throws(ContactError) {
        do {
            let lock = try FolderLock.taking(SmallFile.folder(of: path))
            let before = try? read()
            let after = try body(before?.choice ?? VisibilityChoice())
            try SmallFile.replace(path, with: try Document(after, mark: mark ?? before?.mark).bytes(), mode: 0o600)
            reading.withLock { $0 = nil }
            lock.release()
        } catch let error as ContactError {
            throw error
        } catch {
            throw .unwritable(path, error as? SystemError ?? SystemError(EINVAL))
        }
    }

    private func current() throws(ContactError) -> Reading {
        let stamp = try? FileStamp(of: path)
        let known = reading.withLock { $0 }
        if let known, known.stamp == stamp, known.isSettled { return known }
        var new = try read()
        // The file is read again because its stamp was recent: the same choice keeps its deadline.
        if let known, known.choice == new.choice {
            new.deadline = known.deadline
        } else {
            new.deadline = new.choice.nextChange(at: clocks.wall()).map { clocks.steady() + .milliseconds($0.in) }
        }
        reading.withLock { [new] in $0 = new }
        return new
    }

    private func read() throws(ContactError) -> Reading {
        let now = FileStamp.now()
        let file: (bytes: [UInt8], stamp: FileStamp)
        do {
            file = try SmallFile.stamped(path, limit: ContactBounds.visibilityBytes)
        } catch {
            if error == .missing { return Reading(choice: VisibilityChoice(), stamp: nil, isSettled: true) }
            throw ContactError(path, limit: ContactBounds.visibilityBytes, error)
        }
        guard let document = try? JSONDecoder().decode(Document.self, from: Data(file.bytes)), document.version == 1
        else { throw .damaged(path, "it is not a JSON document with a visibility") }
        return Reading(
            choice: document.choice, mark: document.mark, stamp: file.stamp, isSettled: !file.stamp.isRecent(at: now))
    }

    private struct Document: Codable {
        var version = 1
        var lasting: Visibility
        var passing: Passing?
        var mark: UInt32?

        struct Passing: Codable {
            var visibility: Visibility
            /// `since`: milliseconds since 1970; `length`: milliseconds.
            var since: Int64
            var length: Int64
        }

        init(_ choice: VisibilityChoice, mark: UInt32?) {
            self.mark = mark
            lasting = choice.lasting
            passing = choice.passing.map {
                Passing(visibility: $0.visibility, since: $0.since.milliseconds, length: $0.length)
            }
        }

        var choice: VisibilityChoice {
            VisibilityChoice(
                lasting,
                passing: passing.map {
                    .init($0.visibility, since: WallTime(milliseconds: $0.since), length: $0.length)
                })
        }

        func bytes() throws -> [UInt8] {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            return Array(try encoder.encode(self)) + [UInt8(ascii: "\n")]
        }
    }
}
