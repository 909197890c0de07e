/// Upper bounds of this module (security rule 6).
package enum ContactBounds {
    /// Contacts in the book.
    package static let contacts = 10_000
    /// Groups, and the members of one.
    package static let groups = 256
    package static let members = 64
    /// Strangers that are blocked.
    package static let blockedStrangers = 10_000
    /// Bytes of the book's file.
    package static let bookBytes = 32 << 20
    /// Bytes of the file with the visibility.
    package static let visibilityBytes = 64 << 10
    /// Bytes of a contact's name.
    package static let nameBytes = 63
    /// Addresses that are stored for each contact.
    package static let addresses = 8
    /// Bytes of an address's host.
    package static let hostBytes = 255
    /// Types in a contact's limits, or in one condition of a rule.
    package static let types = 32
    /// Values in one condition of a rule.
    package static let values = 64
    /// Rules.
    package static let rules = 256
    /// Bytes of one value of a rule.
    package static let valueBytes = 1_024
    /// Characters in a name pattern, without its stars.
    package static let patternCharacters = 127
    /// Maximum days that a limit or a visibility can last.
    package static let days = 3_660

    /// Offers of one stranger that may wait for an answer.
    package static let waitingPerStranger = 4
    /// Offers of all strangers together that may wait. New keys cost nothing: a cap for each key alone would not help.
    package static let waitingOfStrangers = 16
    /// Questions that one stranger may cause in a minute.
    package static let questionsPerStranger = 6
    /// Questions that all strangers together may cause in a minute.
    package static let questionsOfStrangers = 24
}
