/// Lines of text sorted by their first field, searched in place in the program's read-only data.
///
/// Fields are separated by `|`, lines by a line feed. A table costs nothing to make, and a search allocates nothing:
/// only the pages of the text that it touches are read from disk.
struct SortedTable: Sendable {
    private let text: StaticString

    init(_ text: StaticString) {
        precondition(text.hasPointerRepresentation, "a table is more than one character")
        self.text = text
    }

    // A literal lives as long as the program, so this may leave a scope.
    private var bytes: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    }

    /// The line whose first field is `key`, without regard to the case of ASCII letters.
    func row(for key: String) -> Row? {
        var key = key
        return key.withUTF8 { row(for: $0) }
    }

    private func row(for key: UnsafeBufferPointer<UInt8>) -> Row? {
        let bytes = bytes
        // Both are starts of lines (or the end), with the wanted line, if any, between them.
        var low = 0
        var high = bytes.count
        while low < high {
            let row = Row(around: low + (high - low) / 2, from: low, in: bytes)
            switch row.order(against: key) {
            case .equal: return row
            case .before: low = row.end + 1
            case .after: high = row.start
            }
        }
        return nil
    }

    /// All lines in order.
    var rows: [Row] {
        let bytes = bytes
        var rows: [Row] = []
        var start = 0
        while start < bytes.count {
            let row = Row(around: start, from: start, in: bytes)
            rows.append(row)
            start = row.end + 1
        }
        return rows
    }
}

extension SortedTable {
    /// One line.
    struct Row {
        // Of the whole table; the line is `start..<end`, its line feed left out.
        private let bytes: UnsafeBufferPointer<UInt8>
        fileprivate let start: Int
        fileprivate let end: Int

        /// The line with the byte at `position`. Some line starts at `first`, which is not after `position`.
        fileprivate init(around position: Int, from first: Int, in bytes: UnsafeBufferPointer<UInt8>) {
            var start = position
            while start > first, bytes[start - 1] != UInt8(ascii: "\n") { start -= 1 }
            var end = position
            while end < bytes.count, bytes[end] != UInt8(ascii: "\n") { end += 1 }
            self.bytes = bytes
            self.start = start
            self.end = end
        }

        /// The field with this number; empty if the line has fewer.
        func field(_ number: Int) -> Field {
            var from = start
            for _ in 0..<number {
                from = endOfField(from: from) + 1
                guard from <= end else { return Field(bytes: UnsafeBufferPointer(rebasing: bytes[end..<end])) }
            }
            return Field(bytes: UnsafeBufferPointer(rebasing: bytes[from..<endOfField(from: from)]))
        }

        private func endOfField(from start: Int) -> Int {
            var position = start
            while position < end, bytes[position] != UInt8(ascii: "|") { position += 1 }
            return position
        }

        fileprivate enum Order {
            case before
            case equal
            case after
        }

        /// The order of the first field and `key`, without regard to case; a prefix sorts before longer text.
        fileprivate func order(against key: UnsafeBufferPointer<UInt8>) -> Order {
            let fieldEnd = endOfField(from: start)
            var position = start
            for byte in key {
                guard position < fieldEnd else { return .before }
                let mine = bytes[position].asciiLowercased
                let other = byte.asciiLowercased
                guard mine == other else { return mine < other ? .before : .after }
                position += 1
            }
            return position == fieldEnd ? .equal : .after
        }
    }

    /// One field of a line.
    struct Field {
        fileprivate let bytes: UnsafeBufferPointer<UInt8>

        var isEmpty: Bool { bytes.isEmpty }

        var text: String { String(decoding: bytes, as: UTF8.self) }

        /// The parts between commas, none for an empty field.
        var list: [String] {
            bytes.split(separator: UInt8(ascii: ",")).map { String(decoding: $0, as: UTF8.self) }
        }

        /// The text before the first comma, nil for an empty field.
        var first: String? {
            bytes.isEmpty ? nil : String(decoding: bytes.prefix { $0 != UInt8(ascii: ",") }, as: UTF8.self)
        }
    }
}
