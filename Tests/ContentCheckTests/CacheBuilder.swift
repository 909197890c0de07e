@testable import ContentCheck

/// Writes a `mime.cache` of version 1.2 with the lists that Waft reads.
struct CacheBuilder {
    struct Matchlet {
        var start = 0
        var range = 1
        var wordSize = 1
        var value: [UInt8]
        var mask: [UInt8]?
        var children: [Matchlet] = []
    }

    struct Rule {
        var priority: Int
        var mimeType: String
        var matchlets: [Matchlet]
    }

    var aliases: [String: String] = [:]
    var parents: [String: [String]] = [:]
    var rules: [Rule] = []

    var bytes: [UInt8] {
        var writer = Writer()
        writer.add([0, 1, 0, 2] + [UInt8](repeating: 0, count: 36))
        let names = aliases.sorted { $0.key < $1.key }.map { (writer.name($0.key), writer.name($0.value)) }
        writer.set(4, to: writer.list(names.flatMap { [$0.0, $0.1] }, count: names.count))
        let lines = parents.sorted { $0.key < $1.key }.map { key, values in
            let values = values.map { writer.name($0) }
            return (writer.name(key), writer.list(values, count: values.count))
        }
        writer.set(8, to: writer.list(lines.flatMap { [$0.0, $0.1] }, count: lines.count))
        let entries = rules.sorted { $0.priority > $1.priority }.map { rule in
            [
                rule.priority, writer.name(rule.mimeType), rule.matchlets.count,
                writer.matchlets(rule.matchlets),
            ]
        }
        let first = writer.words(entries.flatMap(\.self))
        writer.set(24, to: writer.words([entries.count, 64, first]))
        return writer.bytes
    }

    var cache: MIMECache? { MIMECache(bytes: bytes) }

    private struct Writer {
        var bytes: [UInt8] = []

        mutating func add(_ more: [UInt8]) { bytes += more }

        mutating func set(_ offset: Int, to value: Int) {
            bytes.replaceSubrange(offset..<offset + 4, with: Self.big(value))
        }

        mutating func place(_ more: [UInt8]) -> Int {
            while !bytes.count.isMultiple(of: 4) { bytes.append(0) }
            defer { bytes += more }
            return bytes.count
        }

        mutating func name(_ name: String) -> Int { place(Array(name.utf8) + [0]) }
        mutating func words(_ words: [Int]) -> Int { place(words.flatMap(Self.big)) }
        mutating func list(_ words: [Int], count: Int) -> Int { self.words([count] + words) }

        mutating func matchlets(_ matchlets: [Matchlet]) -> Int {
            let rows = matchlets.map { matchlet in
                [
                    matchlet.start, matchlet.range, matchlet.wordSize, matchlet.value.count, place(matchlet.value),
                    matchlet.mask.map { place($0) } ?? 0, matchlet.children.count,
                    matchlet.children.isEmpty ? 0 : self.matchlets(matchlet.children),
                ]
            }
            return words(rows.flatMap(\.self))
        }

        static func big(_ value: Int) -> [UInt8] {
            [UInt8(value >> 24 & 0xFF), UInt8(value >> 16 & 0xFF), UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)]
        }
    }
}

extension MIMECache {
    func matches(_ head: [UInt8]) -> [MagicMatch] { head.withUnsafeBytes { matches($0) } }
}
