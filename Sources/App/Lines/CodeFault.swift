/// Why a spoken code that was typed led to no transfer, where an exit code does not tell it apart from other reasons.
package enum CodeFault: Sendable, Equatable {
    case wrongWords
    /// Another machine has used it, or its time is over.
    case spent
    /// It has failed here in the last hour.
    case failedBefore
    /// Several machines say to show it: the beginnings of their keys.
    case claimed(keys: [String])
    case askedTooOften
}
