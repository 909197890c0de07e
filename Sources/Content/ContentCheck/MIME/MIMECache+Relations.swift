extension MIMECache {
    /// The name that the database uses for a MIME type; nil if it knows no other.
    func unaliased(_ mimeType: String) -> String? {
        bytes.withUnsafeBytes { bytes in
            let view = CacheView(bytes: bytes)
            guard let entry = entry(for: mimeType, in: .aliases, view), let offset = view.word(at: entry + 4) else {
                return nil
            }
            return view.name(at: offset).map { String(decoding: $0, as: UTF8.self) }
        }
    }

    /// The direct parents of a MIME type.
    func parents(of mimeType: String) -> [String] {
        bytes.withUnsafeBytes { bytes in
            let view = CacheView(bytes: bytes)
            guard let entry = entry(for: mimeType, in: .parents, view),
                let offset = view.word(at: entry + 4), let count = view.word(at: offset)
            else { return [] }
            return (0..<min(count, Limits.ambiguity)).compactMap { index in
                view.word(at: offset + 4 + 4 * index)
                    .flatMap { view.name(at: $0) }
                    .map { String(decoding: $0, as: UTF8.self) }
            }
        }
    }

    /// The position of the entry of eight bytes whose first word points to this name. Entries are sorted by name.
    private func entry(for mimeType: String, in list: List, _ view: CacheView) -> Int? {
        guard let (entries, count) = view.list(list) else { return nil }
        var low = 0
        var high = min(count, view.bytes.count / 8)
        while low < high {
            let middle = low + (high - low) / 2
            guard let offset = view.word(at: entries + 8 * middle), let name = view.name(at: offset) else { return nil }
            if name.elementsEqual(mimeType.utf8) { return entries + 8 * middle }
            if name.lexicographicallyPrecedes(mimeType.utf8) { low = middle + 1 } else { high = middle }
        }
        return nil
    }
}
