extension TypeRegistry {
    /// MIME types that say little: they come last.
    private static let general = ["text/plain", "application/octet-stream"]

    /// The MIME types of a file or folder by its types and by those that they conform to: the nearest first, the
    /// general ones last.
    ///
    /// - Parameter types: the type of the content and the declared one; the stronger first.
    package func mimeTypes(of types: [UniformType], kind: FileKind) -> [String] {
        guard kind == .regularFile else { return ["inode/directory"] }
        let lines = types.map { reach(of: $0, kind: kind).map(\.type) }
        let near = lines.compactMap(\.first)
        let far = lines.flatMap { $0.dropFirst() }
        var found: [String] = []
        for type in near + far {
            guard let mimeType = preferredMIMEType(for: type), !found.contains(mimeType) else { continue }
            found.append(mimeType)
        }
        let isText = types.contains { conforms($0, to: .text) }
        let general = isText ? Self.general : Array(Self.general.suffix(1))
        return found.filter { !Self.general.contains($0) } + general
    }
}
