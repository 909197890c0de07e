/// Why the journal could not be read or written: one line.
package struct JournalError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}
