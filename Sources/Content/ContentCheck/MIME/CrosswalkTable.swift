internal import UniformTypes

/// Which uniform types the names of the shared MIME database stand for.
///
/// The rows are generated (`Scripts/generate-types`), sorted, and searched in the program's read-only data.
enum CrosswalkTable {
    /// The known facts about one MIME type.
    struct Row {
        /// The type; nil if none is declared.
        let type: UniformType?
        /// A type that it conforms to, if no type is declared.
        let parent: UniformType?
        /// The extensions of its files, lower-case, without the dot.
        let extensions: [String]
    }

    /// The row of a MIME type, without regard to the case of ASCII letters.
    static func row(for mimeType: String) -> Row? {
        let bytes = UnsafeBufferPointer(start: rows.utf8Start, count: rows.utf8CodeUnitCount)
        let key = mimeType.utf8.map { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") ? $0 | 0x20 : $0 }
        // Both are starts of lines, or the end.
        var low = 0
        var high = bytes.count
        while low < high {
            var start = low + (high - low) / 2
            while start > low, bytes[start - 1] != UInt8(ascii: "\n") { start -= 1 }
            var end = start
            while end < bytes.count, bytes[end] != UInt8(ascii: "\n") { end += 1 }
            let line = UnsafeBufferPointer(rebasing: bytes[start..<end])
            let name = line.prefix { $0 != UInt8(ascii: "|") }
            if name.elementsEqual(key) { return Row(line) }
            if name.lexicographicallyPrecedes(key) { low = end + 1 } else { high = start }
        }
        return nil
    }
}

extension CrosswalkTable.Row {
    fileprivate init(_ line: UnsafeBufferPointer<UInt8>) {
        let fields = line.split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        type = fields.count > 1 ? UniformType(fields[1]) : nil
        parent = fields.count > 2 ? UniformType(fields[2]) : nil
        extensions = fields.count > 3 ? fields[3].split(separator: ",").map(String.init) : []
    }
}
