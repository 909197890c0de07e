extension Settings {
    /// Settings that cannot be used: all faults of one file, or a variable with an unusable value.
    package struct InvalidError: Error, Hashable, CustomStringConvertible {
        /// A fault of a file or of a variable.
        package struct Fault: Hashable, Sendable {
            /// From 1; nil for a fault of the whole file, or of a variable.
            package let line: Int?
            /// One clause. Names of the file in it are fit to be shown.
            package let words: String

            package init(line: Int? = nil, _ words: String) {
                (self.line, self.words) = (line, words)
            }

            /// `line 3: unknown setting "nmae"`.
            package var text: String { line.map { "line \($0): \(words)" } ?? words }
        }

        /// The path of the file; nil for a variable.
        package let file: String?
        /// At least one, in the order of their lines.
        package let faults: [Fault]

        package init(file: String? = nil, _ faults: [Fault]) {
            (self.file, self.faults) = (file, faults)
        }

        /// One line.
        package var description: String {
            let texts = faults.map(\.text).joined(separator: "; ")
            guard let file else { return texts }
            return file + (faults.first?.line == nil ? " " : ", ") + texts
        }
    }
}
