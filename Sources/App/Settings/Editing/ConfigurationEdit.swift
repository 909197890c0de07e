import Yams

/// A change of one setting in the text of a configuration file. All other bytes stay as they are.
///
/// A change is made at the marks of the nodes, and the result is read again: unless the setting has its new value, and
/// all others have the old ones, there is no result.
package struct ConfigurationEdit {
    /// Why a text cannot be changed: one line, which says how to go on.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    private let file: ConfigurationText
    private let tree: ConfigurationTree
    private let path: [String]
    private let key: SettingKey

    /// - Throws: `Settings.InvalidError` for a text that is no YAML.
    package init(_ key: SettingKey, in file: ConfigurationText) throws(Settings.InvalidError) {
        (self.file, self.key, tree) = (file, key, try ConfigurationTree(file))
        path = key.name.split(separator: ".").map(String.init)
    }

    /// The text with a new value of the setting.
    ///
    /// - Parameter texts: fit for the setting; several for a list.
    /// - Throws: `Failure` if the setting stands there in a way that cannot be changed safely.
    package func setting(_ texts: [String]) throws(Failure) -> ConfigurationText {
        let value = key.kind == .list ? YAMLWord.list(texts) : YAMLWord.scalar(texts.first ?? "")
        return try first(of: insertions(of: value), with: texts)
    }

    /// The text without the setting; the same text if it is not there.
    ///
    /// - Throws: as `setting`.
    package func unsetting() throws(Failure) -> ConfigurationText {
        guard let root = tree.root, root.null == nil else { return file }
        var mapping = root.mapping
        for word in path.dropLast() { mapping = mapping.flatMap { entry(word, in: $0)?.value.mapping } }
        guard let mapping, let entry = entry(path[path.count - 1], in: mapping) else { return file }
        return try first(of: removal(of: entry, from: mapping).map { [$0] } ?? [], with: nil)
    }

    // MARK: Changes of the text

    private struct Change {
        var range: Range<Int>
        var text: String
    }

    private typealias Entry = (key: Node, value: Node)

    private func entry(_ word: String, in mapping: Node.Mapping) -> Entry? {
        mapping.first { tree.name(of: $0.key) == word }.map { ($0.key, $0.value) }
    }

    /// Changes that could give the setting its value, the nicest first.
    private func insertions(of value: String) -> [Change] {
        guard let root = tree.root, root.null == nil else { return added(path[...], value) }
        guard var mapping = root.mapping else { return [] }
        for (depth, word) in path.enumerated() {
            let rest = path[(depth + 1)...]
            guard let entry = entry(word, in: mapping) else {
                return added(path[depth...], value, to: mapping, isRoot: depth == 0)
            }
            if rest.isEmpty { return replacement(of: entry, by: value).map { [$0] } ?? [] }
            guard let inner = entry.value.mapping else {
                return replacement(of: entry, by: nested(rest, value)).map { [$0] } ?? []
            }
            mapping = inner
        }
        return []
    }

    /// `{airdrop: {enabled: false}}`
    private func nested(_ path: ArraySlice<String>, _ value: String) -> String {
        path.reversed().reduce(value) { "{\($1): \($0)}" }
    }

    private func line(_ path: ArraySlice<String>, _ value: String) -> String {
        "\(path.first ?? ""): \(nested(path.dropFirst(), value))"
    }

    /// A line of its own: below the line of the template, or else at the end of the file.
    private func added(_ path: ArraySlice<String>, _ value: String) -> [Change] {
        let text = tree.text
        let line = line(path, value)
        var changes: [Change] = []
        if let place = text.lineAfter(beginning: "#\(path.first ?? ""):") {
            changes.append(Change(range: place..<place, text: line + "\n"))
        }
        let end = text.scalars.count
        let isOpen = text.scalars.last.map { !MarkedText.isBreak($0) } ?? false
        changes.append(Change(range: end..<end, text: (isOpen ? "\n" : "") + line + "\n"))
        return changes
    }

    private func added(
        _ path: ArraySlice<String>, _ value: String, to mapping: Node.Mapping, isRoot: Bool
    ) -> [Change] {
        let text = tree.text
        guard let start = mapping.mark.flatMap(text.place) else { return [] }
        if text.scalars.indices.contains(start), text.scalars[start] == "{" {
            let line = line(path, value) + (mapping.isEmpty ? "" : ", ")
            return [Change(range: start + 1..<start + 1, text: line)]
        }
        guard let first = mapping.first?.key.mark else { return [] }
        if isRoot, first.column == 1 { return added(path, value) }
        // Above the first key, in its column.
        guard let place = text.place(of: first) else { return [] }
        let indent = String(repeating: " ", count: first.column - 1)
        return [Change(range: place..<place, text: line(path, value) + "\n" + indent)]
    }

    private func replacement(of entry: Entry, by value: String) -> Change? {
        if entry.value.null != nil, let place = tree.text.afterColon(of: entry.key) {
            // Nothing stands there, or a word for nothing.
            let end = tree.text.end(of: entry.value) ?? place
            return Change(range: place..<max(place, end), text: " \(value)")
        }
        guard let start = entry.value.mark.flatMap(tree.text.place), let end = tree.text.end(of: entry.value),
            let colon = tree.text.afterColon(of: entry.key), colon <= start
        else { return nil }
        // A list of lines becomes one in brackets, on the line of its key. Comments in it would be lost.
        let isBelow = tree.text.line(of: start) > tree.text.line(of: colon)
        if isBelow || tree.text.line(of: end) > tree.text.line(of: start) {
            guard !tree.text.scalars[colon..<end].contains("#") else { return nil }
        }
        return isBelow ? Change(range: colon..<end, text: " \(value)") : Change(range: start..<end, text: value)
    }

    private func removal(of entry: Entry, from mapping: Node.Mapping) -> Change? {
        let text = tree.text
        guard let start = entry.key.mark.flatMap(text.place), let colon = text.afterColon(of: entry.key),
            let end = entry.value.null != nil
                ? max(colon, text.end(of: entry.value) ?? colon) : text.end(of: entry.value)
        else { return nil }
        let opening = mapping.mark.flatMap(text.place)
        if let opening, text.scalars.indices.contains(opening), text.scalars[opening] == "{" {
            // With the comma after it, or else with the one before.
            var (from, to) = (start, text.skippingBlanks(from: end))
            if text.scalars.indices.contains(to), text.scalars[to] == "," {
                to = text.skippingBlanks(from: to + 1)
            } else {
                to = end
                let before = text.scalars[opening..<start].lastIndex { $0 != " " && !MarkedText.isBreak($0) }
                if let before, text.scalars[before] == "," { from = before }
            }
            return Change(range: from..<to, text: "")
        }
        // Whole lines, with a comment behind the value.
        let first = text.bounds(ofLineAt: start)
        guard text.scalars[first.lowerBound..<start].allSatisfy({ $0 == " " }) else { return nil }
        let last = text.bounds(ofLineAt: max(start, end - 1))
        return Change(range: first.lowerBound..<last.upperBound, text: "")
    }

    // MARK: The comparison

    /// The result of the first change after which the file says what it should.
    private func first(of changes: [Change], with texts: [String]?) throws(Failure) -> ConfigurationText {
        for change in changes {
            let result = ConfigurationText(path: file.path, text: tree.text.text(with: change.text, at: change.range))
            guard let after = try? ConfigurationTree(result) else { continue }
            var expected = tree.values
            let place = path.joined(separator: ".")
            var found = after.values
            let new = found.removeValue(forKey: place)
            expected[place] = nil
            guard found == expected else { continue }
            switch (texts, new) {
            case (nil, nil): return result
            case (.some(let texts), .some(let node)):
                let written = node.scalar.map { [$0.string] } ?? node.sequence?.compactMap { $0.scalar?.string } ?? []
                if written == texts { return result }
            default: continue
            }
        }
        throw Failure(
            description:
                "\(key.name) stands in \(file.path) in a way that cannot be changed safely; see: waft config edit")
    }
}

extension ConfigurationTree {
    /// The value of each setting, by its name: those of nested mappings with dots. A key that stands twice is there with
    /// its number. Mappings and missing values are not there.
    fileprivate var values: [String: Node] {
        var values: [String: Node] = [:]
        if let root { collect(root, below: "", into: &values) }
        return values
    }

    private func collect(_ node: Node, below parent: String, into values: inout [String: Node]) {
        guard let mapping = node.mapping else {
            // Parents without any setting are as good as none.
            if node.null == nil || SettingKey.all.contains(where: { $0.name == parent }) { values[parent] = node }
            return
        }
        for (number, (key, value)) in mapping.enumerated() {
            var name = (parent.isEmpty ? "" : parent + ".") + (name(of: key) ?? "?")
            if values[name] != nil { name += "#\(number)" }
            collect(value, below: name, into: &values)
        }
    }
}

/// Texts as YAML.
enum YAMLWord {
    /// `[a, "b, c"]`
    static func list(_ texts: [String]) -> String { "[\(texts.map(scalar).joined(separator: ", "))]" }

    /// A text as it is, or in quotes if YAML would read it otherwise, within brackets too.
    static func scalar(_ text: String) -> String {
        isPlain(text) ? text : "\"\(text.unicodeScalars.map(escaped).joined())\""
    }

    private static func isPlain(_ text: String) -> Bool {
        guard text.wholeMatch(of: #/[A-Za-z0-9/][A-Za-z0-9/_.+%*@-]*( [A-Za-z0-9/_.+%*@-]+)*/#) != nil else {
            return false
        }
        return !["null", "~"].contains(text.lowercased())
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\"": "\\\""
        case "\\": "\\\\"
        case _
        where scalar.properties.generalCategory == .control || MarkedText.isBreak(scalar) || scalar == "\u{FEFF}":
            "\\u" + String(repeating: "0", count: 4 - String(scalar.value, radix: 16).count)
                + String(scalar.value, radix: 16)
        default: String(scalar)
        }
    }
}
