package import Sharing

/// Opens sealed items for programs: a program gets a clear copy in memory, which is removed after its answer.
///
/// All calls may block on the disk.
package protocol ClearCopying: Sendable {
    /// Whether items of this protection can be opened now.
    func canOpen(_ protection: ProtectionClass) -> Bool

    /// Whether everything that is sealed can be opened; nil if data protection is not set up.
    var isProtectedDataAvailable: Bool? { get }

    /// The folder of a handler's clear copies, made if it is missing; nil if there can be none. Its sandbox lets the
    /// handler read and remove them.
    /// - Parameter handler: its identifier.
    func folder(of handler: String) -> String?

    /// Makes clear copies. Those of an earlier call of the handler must have been closed.
    ///
    /// - Returns: the same arrivals with the paths of the copies and the digests of their contents, in order; those that
    ///   are not sealed unchanged.
    func open(_ arrivals: [Arrival], for handler: String) throws(ClearCopyError) -> [Arrival]

    /// Whether there is room for the clear copies of all of these at once.
    func fits(_ arrivals: [Arrival]) -> Bool

    /// Opens a sealed item that is one file, and whose clear copy would be too large. It counts as a clear copy until
    /// `close`.
    /// - Parameter handler: its identifier.
    func stream(_ arrival: Arrival, for handler: String) throws(ClearCopyError) -> ClearStream

    /// Ends a stream whose program has ended.
    /// - Parameter handler: its identifier.
    func close(_ stream: ClearStream, of handler: String)

    /// Calls `tell` when the lock comes, if the program must not keep one of these copies: those of the class complete. At
    /// once if the lock has come already; perhaps more than once; not after `close`.
    /// - Parameter handler: its identifier.
    func whenLocked(_ copies: [Arrival], of handler: String, _ tell: @escaping @Sendable () -> Void)

    /// Removes the copies of a call.
    /// - Returns: the numbers of those that were gone already: the program has moved or removed them.
    func close(_ copies: [Arrival]) -> Set<ArrivalNumber>

    /// Removes a sealed item from the Inbox: a program has taken its contents.
    func remove(_ arrival: Arrival)
}

/// Why there is no clear copy.
package enum ClearCopyError: Error, Hashable, Sendable {
    /// It is locked: the call is made after the unlock.
    case locked
    /// There is not the room for it; with one line. A program may get it as a stream.
    case tooLarge(String)
    /// One line. It may work later.
    case later(String)
    /// One line. It never will: the item was changed, or can be opened nowhere on this machine.
    case failed(String)

    /// The outcome of a call for which there is none.
    var answer: (AttemptOutcome.Answer, reason: String) {
        switch self {
        case .locked: (.later, "it is locked")
        case .tooLarge(let reason), .later(let reason): (.later, reason)
        case .failed(let reason): (.failed, reason)
        }
    }
}

/// For those without bounds.
extension ClearCopying {
    package func fits(_ arrivals: [Arrival]) -> Bool { true }

    package func stream(_ arrival: Arrival, for handler: String) throws(ClearCopyError) -> ClearStream {
        throw .later("sealed items cannot be streamed here")
    }

    package func close(_ stream: ClearStream, of handler: String) {}

    package func whenLocked(_ copies: [Arrival], of handler: String, _ tell: @escaping @Sendable () -> Void) {}
}
