import Foundation
package import Sharing
package import UniformTypes
import Yams

extension Settings {
    /// Bytes of a configuration file; people write a few hundred.
    private static let maximumBytes = 1 << 20

    /// Reads `config.yaml`; a missing file sets nothing.
    ///
    /// - Parameters:
    ///   - dialects: rules can name those whose peers prove no key.
    ///   - registry: the types that rules can name; asked for where there are rules.
    /// - Throws: `Settings.InvalidError` with file and line for text that is no YAML, an unknown key, or an unfit value.
    package mutating func read(
        file path: String, dialects: DialectTable, registry: @autoclosure () -> TypeRegistry = .system
    ) throws(InvalidError) {
        guard FileManager.default.fileExists(atPath: path) else { return }
        guard let data = FileManager.default.contents(atPath: path), data.count <= Self.maximumBytes,
            let text = String(data: data, encoding: .utf8)
        else {
            throw InvalidError(description: "\(path) cannot be read: it is unreadable, too large, or not UTF-8 text")
        }
        let root: Node?
        do {
            root = try compose(yaml: text)
        } catch {
            let reason = (error as? YamlError)?.description ?? error.localizedDescription
            let line = reason.split(separator: "\n").joined(separator: " ")
            throw InvalidError(description: "\(path) is not YAML: \(line)")
        }
        // A file of comments only, as the first start writes it.
        guard let root, root.null == nil else { return }
        guard let mapping = root.mapping else {
            throw InvalidError(description: "\(path) should be a list of `key: value` lines")
        }
        try read(mapping, below: [], in: path, dialects, registry)
    }

    /// - Parameter parents: the keys above the mapping.
    private mutating func read(
        _ mapping: Node.Mapping, below parents: [String], in path: String, _ dialects: DialectTable,
        _ registry: () -> TypeRegistry
    ) throws(InvalidError) {
        for (keyNode, value) in mapping {
            let place = "\(path), line \(keyNode.mark?.line ?? 0)"
            let word = keyNode.scalar?.string ?? "?"
            let name = (parents + [word]).joined(separator: ".")
            let siblings = SettingKey.words(below: parents)
            guard siblings.contains(word) else {
                let shown = PeerName.fit(String(word.prefix(64)), fallback: "?")
                let parent = parents.isEmpty ? "" : " in \(parents.joined(separator: "."))"
                throw InvalidError(
                    description:
                        "\(place): unknown setting \"\(shown)\"\(parent); there are: \(siblings.joined(separator: ", "))"
                )
            }
            guard let key = SettingKey.all.first(where: { $0.name == name }) else {
                // All of it commented out.
                if value.null != nil { continue }
                guard let inner = value.mapping else {
                    let first = SettingKey.words(below: parents + [word]).first ?? ""
                    throw InvalidError(description: "\(place): \(name) should be a mapping, such as {\(first): …}")
                }
                try read(inner, below: parents + [word], in: path, dialects, registry)
                continue
            }
            if key.kind == .rules {
                policy = try PolicyReader(path: path, registry: registry(), dialects: dialects).read(value)
                places[name] = place
                continue
            }
            let texts = value.scalar.map { [$0.string] } ?? value.sequence?.compactMap { $0.scalar?.string } ?? []
            guard value.mapping == nil, key.read(texts, from: place, into: &self) else {
                throw InvalidError(description: "\(place): \(name) should be \(key.expected)")
            }
        }
    }
}

extension SettingKey {
    /// The keys that a mapping of the file can have.
    ///
    /// - Parameter parents: the keys above the mapping.
    fileprivate static func words(below parents: [String]) -> [String] {
        var words: [String] = []
        for key in all {
            let path = key.name.split(separator: ".").map(String.init)
            guard path.count > parents.count, path.starts(with: parents) else { continue }
            if words.last != path[parents.count] { words.append(path[parents.count]) }
        }
        return words
    }
}
