import Contacts
import Endpoints
import ItemSources
import Sending
import Sharing
import UniformTypes

/// A rule for people. Not escaped.
enum RuleText {
    /// Values of one condition that are named in a line.
    private static let namedValues = 8

    /// `1  accept: from Anna; type public.image; up to 5.0 GB; into Photos/Anna`.
    static func line(_ number: Int, _ rule: PolicyRule) -> String {
        let conditions = rule.conditions.map(words)
        let all = (conditions.isEmpty ? ["everything"] : conditions) + words(rule.destination)
        return "\(number)  \(rule.outcome.rawValue): \(all.joined(separator: "; "))"
    }

    static func words(_ destination: Destination) -> [String] {
        var words: [String] = []
        if let folder = destination.folder { words.append("into \(folder)") }
        if let handler = destination.handler { words.append("to \(handler)") }
        if let protection = destination.protection { words.append("sealed as \(protection.rawValue)") }
        return words
    }

    static func words(_ condition: PolicyRule.Condition) -> String {
        switch condition {
        case .from(let parties): "from \(list(parties))"
        case .types(let types): "type \(list(types.map(\.identifier)))"
        case .names(let patterns): "name \(list(patterns))"
        case .sizeAtMost(let size): "up to \(ByteCount.text(size))"
        case .sizeAtLeast(let size): "at least \(ByteCount.text(size))"
        case .sizePerDay(let size): "up to \(ByteCount.text(size)) in 24 hours"
        case .time(let window): "at \(window)"
        }
    }

    private static func list(_ values: [some CustomStringConvertible]) -> String {
        values.prefix(namedValues).map(\.description).joined(separator: " or ")
            + (values.count > namedValues ? " or \(Glyph.ellipsis)" : "")
    }
}
