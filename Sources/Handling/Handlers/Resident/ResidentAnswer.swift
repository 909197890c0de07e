import Foundation
import HandlerCatalog
import Sharing

/// One line of a resident handler: `{"answer":"yes"|"no"|"later"|"failed","number":N?,"reason":"…"?}`.
struct ResidentAnswer: Decodable, Hashable {
    /// Bytes of a line without its end.
    static let longestLine = 65_536
    /// Characters of a reason that are kept.
    private static let longestReason = 256

    /// The fault in a line.
    struct FormatError: Error, Hashable {
        /// One line, lower case.
        let reason: String
    }

    var answer: AttemptOutcome.Answer
    var reason: String
    /// Whether the answer names its question.
    var isNumbered: Bool

    /// - Parameter number: the arrival of the question; nil if the question has none.
    init(_ line: [UInt8], to number: ArrivalNumber?) throws(FormatError) {
        struct Line: Decodable {
            var answer: String
            var number: Int64?
            var reason: String?
        }
        guard let decoded = try? JSONDecoder().decode(Line.self, from: Data(line)) else {
            let start = String(decoding: line.prefix(64), as: UTF8.self)
            throw FormatError(reason: "its answer is not valid JSON: \(ShownText.escaped(start))")
        }
        if let other = decoded.number, other != number?.value {
            throw FormatError(reason: "it answered for \(other), which is not its question")
        }
        guard let answer = AttemptOutcome.Answer(rawValue: decoded.answer) else {
            let word = ShownText.escaped(String(decoded.answer.prefix(32)))
            throw FormatError(reason: "its answer is neither yes, no, later nor failed: \(word)")
        }
        self.answer = answer
        isNumbered = decoded.number != nil
        reason = ShownText.escaped(String((decoded.reason ?? "").prefix(Self.longestReason)))
    }
}

extension ResidentAnswer {
    /// The number in a line; nil if the line is no answer or has no number.
    static func number(in line: [UInt8]) -> Int64? {
        struct Line: Decodable {
            var answer: String
            var number: Int64
        }
        return (try? JSONDecoder().decode(Line.self, from: Data(line)))?.number
    }
}

/// A notice to a resident handler: the item of its question is about to leave the Inbox. A notice needs no answer.
struct MoveNotice: Encodable {
    var v = 1
    var call = "presented-item-will-move"
    var number: Int64

    init(number: ArrivalNumber) { self.number = number.value }
}

/// A notice to a resident handler: its settings have changed. It must not be answered.
struct SettingsNotice: Encodable {
    var v = 1
    var call = "defaults-did-change"
    /// All settings, also those that are as before.
    var settings: [String: HandlerSettingValue]

    init(_ settings: [String: HandlerSettingValue]) { self.settings = settings }
}

/// Splits the output into lines.
struct LineSplitter {
    private var line: [UInt8] = []
    private var isTooLong = false

    /// Calls `each` with a line without its end; with nil, once, for a line that is too long.
    mutating func take(_ bytes: UnsafeRawBufferPointer, limit: Int, each: ([UInt8]?) -> Void) {
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                if !isTooLong { each(line) }
                line = []
                isTooLong = false
            } else if line.count < limit {
                line.append(byte)
            } else if !isTooLong {
                isTooLong = true
                line = []
                each(nil)
            }
        }
    }
}
