/// The dialects that a program speaks, for reading their names in files and messages.
package struct DialectTable: Sendable {
    /// The first one is meant where no name is written.
    package let all: [Dialect]

    /// - Parameter all: at least one; names differ.
    package init(_ all: [Dialect]) {
        precondition(!all.isEmpty)
        self.all = all
    }

    /// The dialect that is meant where no name is written.
    package var standard: Dialect { all[0] }

    /// - Returns: the dialect of this name. A name that is not in the table may come from a newer version: its dialect
    ///   proves and promises nothing.
    package subscript(name: String) -> Dialect {
        all.first { $0.name == name }
            ?? Dialect(name: name, title: name, proof: .never, givesReceipts: false, resumes: false)
    }

    /// The dialects whose peers need not prove a key: rules can name their strangers as senders.
    package var unproven: [Dialect] { all.filter { !$0.provesKeys } }
}
