import Foundation
import GRDB

/// Reads the values of one row from left to right, and validates each of them.
struct ColumnReader {
    private let row: Row
    private var next = 0
    /// Names the row in messages: `arrival 12`.
    private(set) var what: String

    /// - Parameter kind: the kind of thing that the first column numbers.
    init(_ row: Row, _ kind: String) {
        self.row = row
        self.what = "\(kind) \(row[0] as DatabaseValue)"
    }

    private mutating func value() -> DatabaseValue {
        defer { next += 1 }
        return next < row.count ? row[next] : .null
    }

    func unreadable(_ column: String) -> UnreadableRowError {
        UnreadableRowError(line: "\(what) cannot be read: its \(column) is damaged")
    }

    mutating func optionalInteger(_ column: String) throws(UnreadableRowError) -> Int64? {
        switch value().storage {
        case .null: return nil
        case .int64(let integer): return integer
        default: throw unreadable(column)
        }
    }

    mutating func integer(_ column: String) throws(UnreadableRowError) -> Int64 {
        guard let integer = try optionalInteger(column) else { throw unreadable(column) }
        return integer
    }

    /// An integer of at least `least`.
    mutating func count(_ column: String, least: Int = 0) throws(UnreadableRowError) -> Int {
        guard let count = Int(exactly: try integer(column)), count >= least else { throw unreadable(column) }
        return count
    }

    mutating func optionalInt(_ column: String) throws(UnreadableRowError) -> Int? {
        guard let integer = try optionalInteger(column) else { return nil }
        guard let int = Int(exactly: integer) else { throw unreadable(column) }
        return int
    }

    mutating func optionalBits(_ column: String) throws(UnreadableRowError) -> UInt64? {
        try optionalInteger(column).map { UInt64(bitPattern: $0) }
    }

    mutating func bits(_ column: String) throws(UnreadableRowError) -> UInt64 {
        UInt64(bitPattern: try integer(column))
    }

    mutating func optionalText(_ column: String) throws(UnreadableRowError) -> String? {
        switch value().storage {
        case .null: return nil
        case .string(let text): return text
        case .blob(let data):
            guard let text = String(validating: data, as: UTF8.self) else { throw unreadable(column) }
            return text
        default: throw unreadable(column)
        }
    }

    mutating func optionalBytes(_ column: String) throws(UnreadableRowError) -> [UInt8]? {
        switch value().storage {
        case .null: return nil
        case .blob(let data): return Array(data)
        default: throw unreadable(column)
        }
    }

    mutating func text(_ column: String) throws(UnreadableRowError) -> String {
        guard let text = try optionalText(column) else { throw unreadable(column) }
        return text
    }

    /// Converts a text with `make`; nil from `make` means that the text is damaged.
    mutating func text<Value>(_ column: String, _ make: (String) -> Value?) throws(UnreadableRowError) -> Value {
        guard let value = make(try text(column)) else { throw unreadable(column) }
        return value
    }

    mutating func optionalText<Value>(
        _ column: String, _ make: (String) -> Value?
    ) throws(UnreadableRowError) -> Value? {
        guard let text = try optionalText(column) else { return nil }
        guard let value = make(text) else { throw unreadable(column) }
        return value
    }

    /// Decodes the JSON of `WrittenText.json`.
    mutating func json<Value: Decodable>(_ column: String) throws(UnreadableRowError) -> Value {
        let text = try text(column)
        do { return try JSONDecoder().decode(Value.self, from: Data(text.utf8)) } catch { throw unreadable(column) }
    }
}

/// Encodes and shortens texts for the database.
enum WrittenText {
    /// A foreign text, stored completely, even with a NUL in it.
    static func value(_ text: String) -> DatabaseValue {
        text.utf8.contains(0) ? Data(text.utf8).databaseValue : text.databaseValue
    }

    /// A list or a dictionary of texts, as JSON.
    static func json(_ value: some Encodable & Collection) throws -> String {
        // Most rows have an empty value, and an encoder costs more than the rest of the row.
        if value.isEmpty { return value is [String] ? "[]" : "{}" }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    /// The beginning of a text, at most `bytes` of it, cut between characters.
    static func beginning(_ text: String, bytes: Int) -> String {
        if text.utf8.count <= bytes { return text }
        var end = text.utf8.index(text.utf8.startIndex, offsetBy: bytes)
        while end > text.startIndex, end.samePosition(in: text.unicodeScalars) == nil {
            end = text.utf8.index(before: end)
        }
        return String(text[..<end])
    }

    /// The end of a text, at most `bytes` of it, cut between characters.
    static func end(_ text: String, bytes: Int) -> String {
        if text.utf8.count <= bytes { return text }
        var start = text.utf8.index(text.utf8.endIndex, offsetBy: -bytes)
        while start < text.endIndex, start.samePosition(in: text.unicodeScalars) == nil {
            start = text.utf8.index(after: start)
        }
        return String(text[start...])
    }
}
