/// Why a source could not be read to its end.
package struct SourceError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// The source is missing.
        case missing
        /// The source may not be read, or cannot be sent (a device, a socket).
        case unreadable
        /// The source changed between the offer and the end of reading.
        case changed
    }

    /// One line for the user: the path, the problem, and the remedy if there is one.
    package let message: String
    package let code: Code
    /// Further problems, each in the form of `message`: together with it at most `maximumProblems` lines.
    package private(set) var others: [String] = []

    /// The search for problems ends after this many.
    package static let maximumProblems = 20

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Adds the problems of another fault, each once.
    /// - Returns: whether there is room for more.
    package mutating func add(_ fault: SourceError) -> Bool {
        let room = Self.maximumProblems - 1 - others.count
        let new = ([fault.message] + fault.others).filter { $0 != message && !others.contains($0) }
        others += new.prefix(room)
        return others.count + 1 < Self.maximumProblems
    }

    package var description: String { message }
}

/// Produces an activity item: its placeholder first, its contents only after acceptance.
///
/// An object: tens of thousands of them may be held, and a value of unknown size takes three words more.
package protocol ItemSource: AnyObject, Sendable {
    /// The item as it is offered.
    var offered: OfferedItem { get }
    /// The user's name for the source: a path, `-`, or a kind; for messages.
    var origin: String { get }
    /// Bytes of the largest file in it, as far as known; nil if unknown.
    var largestFile: UInt64? { get }
    /// Whether it can be read more than once, and its files from any position.
    var isRepeatable: Bool { get }
    /// Starts reading. May be called again, after a reader is gone, unless the source can be read once only.
    func open() throws(SourceError) -> any ItemReading
    /// Starts reading one file of a folder. The files can be read in any order, and several at the same time.
    ///
    /// Only for sources that are repeatable.
    func open(_ file: SafeRelativePath) throws(SourceError) -> any ItemReading
}

extension ItemSource {
    /// Of an item that is one file: its size.
    package var largestFile: UInt64? { offered.kind == .tree ? nil : offered.size }
    package var isRepeatable: Bool { true }
}

/// The contents of one item, pulled step by step. Used by one thread at a time; calls may block on the disk.
package protocol ItemReading: AnyObject {
    /// The next step, or nil after the last. After `.file` the file's bytes must be `read` to their end first.
    /// - Throws: `SourceError`; the reader cannot be used afterwards.
    func next() throws(SourceError) -> ContentStep?
    /// Continues reading the current file.
    ///
    /// At the end of the file, the reader has checked that the bytes are one state of the file: its size and times are
    /// those from before the first byte. If only the time of its change differs, it has read the bytes once more.
    /// - Returns: bytes read, at least 1 and at most `buffer.count` (not 0), or 0 at the end of the file.
    /// - Throws: `SourceError`; `.changed` if the file has changed.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SourceError) -> Int
    /// Goes to another place in the file that was begun, whose end has not been read. Only for sources that are
    /// repeatable.
    /// - Parameter offset: at most the file's size.
    func seek(to offset: UInt64) throws(SourceError)
}
