/// How an item is sealed on the receiver's disk, and when it can be read.
///
/// A locked receiver has no key that opens the items of the two stricter classes. All classes but `none` can be
/// received while nobody can read them, except `complete`.
package enum ProtectionClass: String, Sendable, Codable, CaseIterable {
    /// Not sealed.
    case none
    /// Sealed; readable from the first unlock until the receiver ends.
    case untilFirstUnlock
    /// Sealed; readable while unlocked. A file that is being received when the lock comes is received to its end.
    case unlessOpen
    /// Sealed; readable, and received, while unlocked only.
    case complete

    package var isSealed: Bool { self != .none }
}
