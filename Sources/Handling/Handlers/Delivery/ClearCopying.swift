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
    /// - Returns: the same arrivals with the paths of the copies and the digests of their contents, in order; those that
    ///   are not sealed unchanged.
    func open(_ arrivals: [Arrival], for handler: String) throws(ClearCopyError) -> [Arrival]

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
    /// One line. It may work later.
    case later(String)
    /// One line. It never will: the item was changed, or can be opened nowhere on this machine.
    case failed(String)
}
