import Contacts
import Sharing
import UniformTypes
import Yams

/// Reads `policy` of `config.yaml`: a list of rules, each a mapping of scalars or lists of scalars.
///
/// It stands in the file alone: a rule is more than a variable of the environment can say.
struct PolicyReader {
    static let key = "policy"

    let path: String
    let registry: TypeRegistry
    let dialects: DialectTable

    /// - Throws: `Settings.InvalidError` with the line of the error, and the number of its rule.
    func read(_ node: Node) throws(Settings.InvalidError) -> Policy {
        // All rules commented out.
        if node.null != nil { return .none }
        guard let list = node.sequence else {
            throw unusable(node, "policy should be a list of rules, such as - {from: contacts, then: accept}")
        }
        guard list.count <= ContactBounds.rules else {
            throw unusable(node, "policy has at most \(ContactBounds.rules) rules, not \(list.count)")
        }
        var rules: [PolicyRule] = []
        for (index, rule) in list.enumerated() { rules.append(try read(rule, number: index + 1)) }
        do throws(ContactError) {
            return try Policy(rules)
        } catch {
            throw unusable(node, "policy: \(error)")
        }
    }

    private func read(_ node: Node, number: Int) throws(Settings.InvalidError) -> PolicyRule {
        guard let mapping = node.mapping else {
            throw unusable(node, "rule \(number) should be `key: value` pairs, such as {from: contacts, then: accept}")
        }
        var fields: [String: PolicyValue] = [:]
        for (key, value) in mapping {
            let name = key.scalar?.string ?? "?"
            guard PolicyRule.keys.contains(name) else {
                let known = PolicyRule.keys.joined(separator: ", ")
                throw unusable(
                    key, "rule \(number) has \"\(Self.shown(name))\", which no rule can have; there are: \(known)")
            }
            guard let plain = Self.plain(value) else {
                throw unusable(key, "rule \(number): \(name) should be a value or a list of values")
            }
            guard fields.updateValue(plain, forKey: name) == nil else {
                throw unusable(key, "rule \(number) has \(name) twice; several values are a list: \(name): [a, b]")
            }
        }
        do throws(ContactError) {
            return try PolicyRule(fields: fields, registry: registry, dialects: dialects)
        } catch {
            throw unusable(node, "rule \(number): \(error)")
        }
    }

    /// - Returns: nil for a node that is neither a scalar nor a list of scalars.
    private static func plain(_ node: Node) -> PolicyValue? {
        if let scalar = node.scalar { return .scalar(scalar.string) }
        guard let list = node.sequence else { return nil }
        // Far too many are refused by their number, and need not be copied for that.
        let texts = list.prefix(ContactBounds.values + 1).compactMap { $0.scalar?.string }
        return texts.count == min(list.count, ContactBounds.values + 1) ? .list(texts) : nil
    }

    private func unusable(_ node: Node, _ words: String) -> Settings.InvalidError {
        Settings.InvalidError(description: "\(path), line \(node.mark?.line ?? 0): \(words)")
    }

    /// A key as it can stand in a line.
    private static func shown(_ text: String) -> String {
        PeerName.fit(String(text.prefix(64)), fallback: "?")
    }
}
