import Contacts
import Sharing
import UniformTypes
import Yams

/// Reads `policy` of `config.yaml`: a list of rules, each a mapping of scalars or lists of scalars.
///
/// It stands in the file alone: a rule is more than a variable of the environment can say.
struct PolicyReader {
    let tree: ConfigurationTree
    let registry: TypeRegistry
    let dialects: DialectTable
    /// The faults of the rules, each with its line and the number of its rule.
    private(set) var faults: [Settings.InvalidError.Fault] = []

    init(tree: ConfigurationTree, registry: TypeRegistry, dialects: DialectTable) {
        (self.tree, self.registry, self.dialects) = (tree, registry, dialects)
    }

    /// - Returns: the rules that can be used.
    mutating func read(_ node: Node) -> Policy {
        // All rules commented out.
        if node.null != nil { return .none }
        guard let list = node.sequence else {
            report(node, "policy should be a list of rules, such as - {from: contacts, then: accept}")
            return .none
        }
        guard list.count <= ContactBounds.rules else {
            report(node, "policy has at most \(ContactBounds.rules) rules, not \(list.count)")
            return .none
        }
        var rules: [PolicyRule] = []
        for (index, rule) in list.enumerated() {
            if let rule = read(rule, number: index + 1) { rules.append(rule) }
        }
        do throws(ContactError) {
            return try Policy(rules)
        } catch {
            report(node, "policy: \(error)")
            return .none
        }
    }

    private mutating func read(_ node: Node, number: Int) -> PolicyRule? {
        guard let mapping = node.mapping else {
            report(node, "rule \(number) should be `key: value` pairs, such as {from: contacts, then: accept}")
            return nil
        }
        let before = faults.count
        var fields: [String: PolicyValue] = [:]
        for (key, value) in mapping {
            let name = tree.name(of: key) ?? "?"
            guard PolicyRule.keys.contains(name) else {
                let known = PolicyRule.keys.joined(separator: ", ")
                report(
                    key,
                    "rule \(number) has \"\(Settings.shown(name))\", which no rule can have; there are: \(known)")
                continue
            }
            guard let plain = Self.plain(value) else {
                report(key, "rule \(number): \(name) should be a value or a list of values")
                continue
            }
            fields[name] = plain
            if let first = tree.line(before: key, in: mapping) {
                report(
                    key,
                    "rule \(number) has \(name) again, after line \(first); several values are a list: \(name): [a, b]")
            }
        }
        guard faults.count == before else { return nil }
        do throws(ContactError) {
            return try PolicyRule(fields: fields, registry: registry, dialects: dialects)
        } catch {
            report(node, "rule \(number): \(error)")
            return nil
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

    private mutating func report(_ node: Node, _ words: String) {
        faults.append(Settings.InvalidError.Fault(line: node.mark?.line, words))
    }
}
