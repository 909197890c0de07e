package import Settings

/// Why settings do not do what they say.
package struct SettingFault: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// The file cannot be read, or its settings contradict each other: no receiver starts with them.
        case file
        /// A program, a folder or a certificate is missing, and may come back at any time: a receiver starts.
        case program
    }

    package let kind: Kind
    /// Names of the settings that are at fault; empty for a file that cannot be read.
    package let settings: [String]
    /// The source of the first of them: an option, a variable, or `PATH, line N`; nil for a default.
    package let place: String?
    /// The line of the file; nil for a fault of another source, or of the whole file.
    package let line: Int?
    /// One clause; not escaped.
    package let words: String
    /// The next step, one line; nil for the usual one of its kind.
    package var hint: String?

    /// The faults of a file that cannot be read.
    package static func all(of error: Settings.InvalidError) -> [SettingFault] {
        error.faults.map { SettingFault(kind: .file, settings: [], place: error.file, line: $0.line, words: $0.words) }
    }

    /// One line, with the place before it.
    package var text: String { place.map { "\($0): \(words)" } ?? words }
}

extension Settings.InvalidError {
    /// - Parameter faults: at least one.
    package init(file: String, _ faults: [SettingFault]) {
        self.init(file: file, faults.map { Fault(line: $0.line, $0.words) })
    }
}
