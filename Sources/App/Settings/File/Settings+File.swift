package import Sharing
package import UniformTypes
import Yams

extension Settings {
    /// Reads `config.yaml`; a missing file sets nothing.
    ///
    /// - Parameters:
    ///   - dialects: rules can name those whose peers prove no key.
    ///   - registry: the types that rules can name; asked for where there are rules.
    /// - Throws: `Settings.InvalidError` with all faults of the file: text that is no YAML, unknown keys, keys that stand
    ///   twice, and unfit values, each with its line.
    package mutating func read(
        file path: String, dialects: DialectTable, registry: @autoclosure () -> TypeRegistry = .system
    ) throws(InvalidError) {
        guard let text = try ConfigurationText(path: path) else { return }
        try read(text, dialects: dialects, registry: registry())
    }

    /// Reads the text of a configuration file, as above.
    package mutating func read(
        _ file: ConfigurationText, dialects: DialectTable, registry: @autoclosure () -> TypeRegistry = .system
    ) throws(InvalidError) {
        let tree = try ConfigurationTree(file)
        // A file of comments only, as the first start writes it.
        guard let root = tree.root, root.null == nil else { return }
        guard let mapping = root.mapping else {
            throw InvalidError(file: file.path, [InvalidError.Fault("should be a list of `key: value` lines")])
        }
        var reader = SettingsReader(path: file.path, tree: tree, dialects: dialects)
        withoutActuallyEscaping(registry) { registry in
            reader.read(mapping, below: [], into: &self, registry)
        }
        guard reader.faults.isEmpty else {
            throw InvalidError(file: file.path, reader.faults.sorted { ($0.line ?? 0) < ($1.line ?? 0) })
        }
    }
}

/// Reads the mappings of a configuration file and collects their faults.
private struct SettingsReader {
    let path: String
    let tree: ConfigurationTree
    let dialects: DialectTable
    var faults: [Settings.InvalidError.Fault] = []

    /// - Parameter parents: the keys above the mapping.
    mutating func read(
        _ mapping: Node.Mapping, below parents: [String], into settings: inout Settings, _ registry: () -> TypeRegistry
    ) {
        let siblings = SettingKey.words(below: parents)
        for (node, value) in mapping {
            let line = node.mark?.line ?? 0
            let word = tree.name(of: node) ?? "?"
            let name = (parents + [word]).joined(separator: ".")
            guard siblings.contains(word) else {
                report(line, unknown(word, below: parents, siblings))
                continue
            }
            if let first = tree.line(before: node, in: mapping) {
                report(line, "\(name) stands here again; line \(first) has it already")
                continue
            }
            guard let key = SettingKey.all.first(where: { $0.name == name }) else {
                // All of it commented out.
                if value.null != nil { continue }
                guard let inner = value.mapping else {
                    let first = SettingKey.words(below: parents + [word]).first ?? ""
                    report(line, "\(name) should be a mapping, such as {\(first): …}")
                    continue
                }
                read(inner, below: parents + [word], into: &settings, registry)
                continue
            }
            read(key, value, at: line, into: &settings, registry)
        }
    }

    private mutating func read(
        _ key: SettingKey, _ value: Node, at line: Int, into settings: inout Settings, _ registry: () -> TypeRegistry
    ) {
        let place = "\(path), line \(line)"
        if key.kind == .rules {
            var reader = PolicyReader(tree: tree, registry: registry(), dialects: dialects)
            settings.policy = reader.read(value)
            settings.places[key.name] = place
            faults += reader.faults
            return
        }
        let texts = value.scalar.map { [$0.string] } ?? value.sequence?.compactMap { $0.scalar?.string } ?? []
        guard value.mapping == nil, texts.count == value.sequence?.count ?? 1,
            key.read(texts, from: place, into: &settings)
        else {
            return report(line, key.complaint(about: texts))
        }
    }

    private func unknown(_ word: String, below parents: [String], _ siblings: [String]) -> String {
        let parent = parents.isEmpty ? "" : " in \(parents.joined(separator: "."))"
        return "unknown setting \"\(Settings.shown(word))\"\(parent); \(SettingKey.advice(for: word, among: siblings))"
    }

    private mutating func report(_ line: Int, _ words: String) {
        faults.append(Settings.InvalidError.Fault(line: line, words))
    }
}

extension Settings {
    /// A word of the file as it can stand in a line.
    package static func shown(_ text: String) -> String { ShownText.line(text, limit: 120) }
}

extension SettingKey {
    /// The reason why texts are no value: the accepted values, the given one, and the probable one.
    package func complaint(about texts: [String]) -> String {
        var words = "\(name) should be \(expected)"
        if texts.count == 1, let text = texts.first, !text.isEmpty { words += ", and is \"\(Settings.shown(text))\"" }
        if case .words(let values) = kind, let text = texts.first,
            let likely = NearWord.closest(to: text, among: values)
        {
            words += "; did you mean \(likely)?"
        }
        return words
    }

    /// The setting that was probably meant, or where all are listed.
    fileprivate static func advice(for word: String, among siblings: [String]) -> String {
        if let likely = NearWord.closest(to: word, among: siblings) { return "did you mean \(likely)?" }
        return siblings.count > 8 ? "all: waft config list --all" : "there are: \(siblings.joined(separator: ", "))"
    }

    /// The setting with a name.
    ///
    /// - Throws: `Settings.InvalidError` with the name that was probably meant.
    package static func named(_ name: String) throws(Settings.InvalidError) -> SettingKey {
        if let key = all.first(where: { $0.name == name }) { return key }
        let shown = Settings.shown(name)
        let inner = all.map(\.name).filter { $0.hasPrefix(name + ".") }
        if !inner.isEmpty {
            throw Settings.InvalidError([
                Settings.InvalidError.Fault("\"\(shown)\" has settings below it: \(inner.joined(separator: ", "))")
            ])
        }
        let words = NearWord.noSetting(name, among: all.map(\.name), list: "waft config list --all")
        throw Settings.InvalidError([Settings.InvalidError.Fault(words)])
    }

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
