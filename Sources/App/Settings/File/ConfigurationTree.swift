import Yams

/// The nodes of a configuration file, which can have keys twice.
struct ConfigurationTree {
    typealias Fault = Settings.InvalidError.Fault

    /// Nil for a file of comments only.
    let root: Node?
    let text: MarkedText
    /// The keys that were renamed, by the places of their marks, so that Yams takes a mapping with a key twice.
    private var renamed: [Int: String] = [:]

    /// Nodes that aliases may add.
    private static let aliasedNodes = 100
    /// Keys that may stand twice in a file. With more, the first is reported.
    private static let renamedKeys = 64

    /// - Throws: `Settings.InvalidError` for a text that is no YAML, or whose aliases add more than 100 nodes.
    init(_ file: ConfigurationText) throws(Settings.InvalidError) {
        do throws(Fault) {
            try self.init(text: file.text)
        } catch {
            throw Settings.InvalidError(file: file.path, [error])
        }
    }

    private init(text: String) throws(Fault) {
        let original = MarkedText(text)
        try Self.checkAliases(original)
        var changed = original
        var renamed: [Int: String] = [:]
        // Letters for private use, which the keys of no setting have.
        var letters: UInt32 = 0xE000
        while true {
            do {
                root = try compose(yaml: changed.text)
                break
            } catch let YamlError.duplicatedKeysInMapping(duplicates, context) {
                let fault = Fault(line: context.mark.line, "this is not YAML: a key stands twice in a mapping")
                guard renamed.count < Self.renamedKeys, let name = duplicates.first,
                    let place = original.place(of: context.mark).flatMap({ original.letter(ofKeyAt: $0) }),
                    let letter = Unicode.Scalar(letters)
                else { throw fault }
                letters += 1
                changed.exchange(place, for: letter)
                renamed[original.place(of: context.mark) ?? place] = name
            } catch {
                throw Self.fault(error)
            }
        }
        (self.text, self.renamed) = (original, renamed)
        if let root {
            var seen: Set<Int> = []
            var added = 0
            try Self.count(root, original, &seen, &added)
        }
    }

    /// The key in the file; nil for a key that is not a word.
    func name(of key: Node) -> String? {
        key.mark.flatMap { text.place(of: $0) }.flatMap { renamed[$0] } ?? key.scalar?.string
    }

    /// The line of the first key of the same name in a mapping; nil for the first itself.
    func line(before key: Node, in mapping: Node.Mapping) -> Int? {
        let name = name(of: key)
        guard let first = mapping.keys.first(where: { self.name(of: $0) == name })?.mark, let mark = key.mark,
            (first.line, first.column) != (mark.line, mark.column)
        else { return nil }
        return first.line
    }

    // MARK: Errors

    private static func fault(_ error: any Error) -> Fault {
        switch error {
        case YamlError.scanner(let context, let problem, let mark, _),
            YamlError.parser(let context, let problem, let mark, _),
            YamlError.composer(let context, let problem, let mark, _):
            let place = context.map { "\($0.text), " } ?? ""
            return Fault(line: mark.line, "this is not YAML: \(place)\(problem)")
        case YamlError.reader(let problem, _, _, _):
            return Fault("is not YAML: \(problem)")
        default:
            let reason = (error as? YamlError)?.description ?? "\(error)"
            return Fault("is not YAML: \(reason.split(whereSeparator: \.isNewline).joined(separator: " "))")
        }
    }

    // MARK: Aliases

    /// Yams compares keys by their contents, which aliases can make endless: no key may have one, and this is found out
    /// without following any.
    private static func checkAliases(_ text: MarkedText) throws(Fault) {
        let places = text.aliases
        guard let first = places.first else { return }
        guard places.count <= aliasedNodes else {
            throw Fault(line: text.line(of: first), "there are more than \(aliasedNodes) aliases")
        }
        var plain = text
        for place in places { plain.exchange(place, for: "A") }
        // Its errors are those of the text itself, or of keys that stand twice: found later.
        guard let root = try? compose(yaml: plain.text) else { return }
        let aliased = Set(places)
        try checkKeys(root, text, aliased)
    }

    private static func checkKeys(_ node: Node, _ text: MarkedText, _ aliases: Set<Int>) throws(Fault) {
        for (key, value) in node.mapping.map(Array.init) ?? [] {
            let isAlias = key.mark.flatMap { text.place(of: $0) }.map(aliases.contains) == true
            guard key.scalar != nil, !isAlias else {
                throw Fault(line: key.mark?.line, "a key should be a word, not an alias or a list")
            }
            try checkKeys(value, text, aliases)
        }
        for value in node.sequence.map(Array.init) ?? [] { try checkKeys(value, text, aliases) }
    }

    /// Counts the nodes that are there more than once.
    private static func count(
        _ node: Node, _ text: MarkedText, _ seen: inout Set<Int>, _ added: inout Int
    ) throws(Fault) {
        // A mapping has the place of its first key, and an empty value that of its neighbour.
        let kind = node.mapping != nil ? 0 : node.sequence != nil ? 1 : 2
        if node.null == nil, let mark = node.mark, let place = text.place(of: mark),
            !seen.insert(place * 3 + kind).inserted
        {
            added += 1
            guard added <= aliasedNodes else {
                throw Fault(line: mark.line, "aliases repeat more than \(aliasedNodes) values")
            }
        }
        for (key, value) in node.mapping.map(Array.init) ?? [] {
            try count(key, text, &seen, &added)
            try count(value, text, &seen, &added)
        }
        for value in node.sequence.map(Array.init) ?? [] { try count(value, text, &seen, &added) }
    }
}

extension Settings.InvalidError.Fault: Error {}

extension MarkedText {
    /// The place of a letter of a key, which can be exchanged; nil for a key that is not a plain or quoted word.
    fileprivate func letter(ofKeyAt place: Int) -> Int? {
        guard scalars.indices.contains(place) else { return nil }
        let quoted = scalars[place] == "\"" || scalars[place] == "'"
        let letter = quoted ? place + 1 : place
        guard scalars.indices.contains(letter) else { return nil }
        let isFit = scalars[letter].properties.isAlphabetic || scalars[letter].properties.numericType != nil
        return isFit ? letter : nil
    }

    /// The places of all stars that could begin an alias; also those in comments and quoted texts.
    fileprivate var aliases: [Int] {
        scalars.indices.dropLast().filter { place in
            let next = scalars[place + 1]
            guard scalars[place] == "*", next.isWordLetter else { return false }
            return place == 0 || !scalars[place - 1].isWordLetter && !["'", "\""].contains(scalars[place - 1])
        }
    }
}

extension Unicode.Scalar {
    /// Whether an alias can begin with it.
    fileprivate var isWordLetter: Bool {
        ("a"..."z") ~= self || ("A"..."Z") ~= self || ("0"..."9") ~= self || self == "_" || self == "-"
    }
}
