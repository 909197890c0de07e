package import Sharing
package import UniformTypes

/// A value of a rule in its written form.
package enum PolicyValue: Hashable, Sendable {
    case scalar(String)
    case list([String])

    var texts: [String] {
        switch self {
        case .scalar(let text): [text]
        case .list(let texts): texts
        }
    }
}

extension PolicyRule {
    /// The keys of a rule, in the order of evaluation. A single value is the same as a list of one.
    ///
    /// | key | value |
    /// |---|---|
    /// | `from` | contacts' names, `contacts`, `strangers`, `everyone`, a dialect that proves no key |
    /// | `type` | uniform types; the item's type conforms to one of them |
    /// | `name` | patterns with `*` and `?` |
    /// | `sizeAtMost`, `sizeAtLeast` | of one item, such as `5 GB` |
    /// | `sizePerDay` | of everything that the sender has sent in 24 hours, this offer included |
    /// | `time` | such as `08:00-18:30` |
    /// | `days` | such as `mon-fri`; for a window over midnight, the day on which it begins |
    /// | `then` | `accept`, `ask` or `decline`; required |
    /// | `handler`, `folder` | the destination; the folder is below the Inbox |
    /// | `protect` | how items are sealed: `none`, `untilFirstUnlock`, `unlessOpen`, `complete` |
    package static let keys = [
        "from", "type", "name", "sizeAtMost", "sizeAtLeast", "sizePerDay", "time", "days", "then", "handler", "folder",
        "protect",
    ]

    /// Reads a rule from plain values of a configuration file.
    ///
    /// - Parameters:
    ///   - registry: all known types: a misspelled type would make a rule that never matches.
    ///   - dialects: those whose peers prove no key can be senders.
    /// - Throws: `ContactError` `unfit` with one line; the caller puts the file and the line number before it.
    package init(fields: [String: PolicyValue], registry: TypeRegistry, dialects: DialectTable) throws(ContactError) {
        if let unknown = fields.keys.sorted().first(where: { !Self.keys.contains($0) }) {
            let known = Self.keys.joined(separator: ", ")
            throw .unfit("a rule cannot have \(unknown.quoted); there are: \(known)")
        }
        let fields = RuleFields(fields)
        var conditions: [Condition] = []
        let parties = try fields.list("from") { text throws(ContactError) in try Self.party(text, dialects) }
        if let parties { conditions.append(.from(parties)) }
        let types = try fields.list("type") { text throws(ContactError) in try Self.type(text, registry) }
        if let types { conditions.append(.types(types)) }
        let patterns = try fields.list("name") { text throws(ContactError) in try NamePattern(text) }
        if let patterns { conditions.append(.names(patterns)) }
        let most = try fields.one("sizeAtMost", ByteCountText.read)
        let least = try fields.one("sizeAtLeast", ByteCountText.read)
        if let most, let least, most < least {
            throw .unfit("no item can match this rule: sizeAtMost is less than sizeAtLeast")
        }
        if let most { conditions.append(.sizeAtMost(most)) }
        if let least { conditions.append(.sizeAtLeast(least)) }
        if let day = try fields.one("sizePerDay", ByteCountText.read) { conditions.append(.sizePerDay(day)) }
        if let window = try Self.window(fields) { conditions.append(.time(window)) }
        let outcome = try fields.one("then") { text throws(ContactError) in
            guard let outcome = PolicyAction(rawValue: text) else {
                throw .unfit("\(text.quoted) is not accept, ask or decline")
            }
            return outcome
        }
        guard let outcome else { throw .unfit("a rule needs then: accept, ask or decline") }
        self.init(conditions, outcome, try Self.destination(fields, outcome))
    }

    private static func party(_ text: String, _ dialects: DialectTable) throws(ContactError) -> Party {
        let word = text.lowercased()
        switch word {
        case "contacts": return .contacts
        case "strangers": return .strangers
        case "everyone": return .everyone
        default:
            if let dialect = dialects.unproven.first(where: { $0.name == word }) { return .dialect(dialect) }
            return .contact(try ContactName(text))
        }
    }

    private static func type(_ text: String, _ registry: TypeRegistry) throws(ContactError) -> UniformType {
        if text.contains("/") {
            guard let type = registry.type(forMIMEType: text) else {
                throw .unfit("\(text.quoted) is not a uniform type such as public.image")
            }
            throw .unfit("\(text.quoted) is a MIME type; its type is \(type)")
        }
        if let type = UniformType(text), registry.isDeclared(type) || type.isDynamic { return type }
        let plain = text.hasPrefix(".") ? String(text.dropFirst()) : text
        let meant =
            registry.type(forExtension: plain, kind: .regularFile)
            ?? registry.type(forExtension: plain, kind: .directory)
        if let meant, !meant.isDynamic {
            throw .unfit("\(text.quoted) is a file name extension; its type is \(meant)")
        }
        throw .unfit("\(text.quoted) is not a known uniform type, such as public.image or com.adobe.pdf")
    }

    private static func window(_ fields: RuleFields) throws(ContactError) -> TimeWindow? {
        let ranges = try fields.list("days") { text throws(ContactError) in
            guard let days = Weekday.range(text) else {
                throw .unfit("\(text.quoted) is not a day of the week or a range of days, such as sat or mon-fri")
            }
            return days
        }
        let days = ranges.map { $0.reduce(into: Set<Weekday>()) { $0.formUnion($1) } }
        let window = try fields.one("time") { text throws(ContactError) in
            try TimeWindow(text, days: days ?? Set(Weekday.allCases))
        }
        guard window == nil, let days else { return window }
        return try TimeWindow(days: days)
    }

    private static func destination(_ fields: RuleFields, _ outcome: PolicyAction) throws(ContactError) -> Destination {
        let handler = try fields.one("handler") { text throws(ContactError) in
            _ = try Destination(handler: text)
            return text
        }
        let folder = try fields.one("folder") { text throws(ContactError) in
            do throws(NameError) {
                return try SafeRelativePath(text)
            } catch {
                throw .unfit("\(text.quoted) is not a folder below the Inbox: \(error)")
            }
        }
        let protection = try fields.one("protect") { text throws(ContactError) in
            guard let protection = ProtectionClass(rawValue: text) else {
                let classes = ProtectionClass.allCases.map(\.rawValue).joined(separator: ", ")
                throw .unfit("\(text.quoted) is not one of \(classes)")
            }
            return protection
        }
        if outcome == .decline, handler != nil || folder != nil || protection != nil {
            throw .unfit("a rule with then: decline cannot have a handler, folder or protection")
        }
        return try Destination(handler: handler, folder: folder, protection: protection)
    }
}

/// The values of a rule by key. An error message names the key.
private struct RuleFields {
    private let fields: [String: PolicyValue]

    init(_ fields: [String: PolicyValue]) {
        self.fields = fields
    }

    func one<Value>(
        _ key: String, _ read: (String) throws(ContactError) -> Value
    ) throws(ContactError) -> Value? {
        guard let value = fields[key] else { return nil }
        guard value.texts.count == 1 else { throw .unfit("\(key) has one value, not \(value.texts.count)") }
        return try self.read(key, value.texts[0], read)
    }

    func list<Value>(
        _ key: String, _ read: (String) throws(ContactError) -> Value
    ) throws(ContactError) -> [Value]? {
        guard let value = fields[key] else { return nil }
        guard (1...ContactBounds.values).contains(value.texts.count) else {
            throw .unfit("\(key) has 1 to \(ContactBounds.values) values, not \(value.texts.count)")
        }
        var values: [Value] = []
        for text in value.texts { values.append(try self.read(key, text, read)) }
        return values
    }

    private func read<Value>(
        _ key: String, _ text: String, _ read: (String) throws(ContactError) -> Value
    ) throws(ContactError) -> Value {
        guard text.utf8.prefix(ContactBounds.valueBytes + 1).count <= ContactBounds.valueBytes else {
            throw .unfit("\(key): a value has at most \(ContactBounds.valueBytes) bytes")
        }
        do throws(ContactError) {
            return try read(text)
        } catch {
            throw .unfit("\(key): \(error)")
        }
    }
}
