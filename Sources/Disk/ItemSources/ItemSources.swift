import Glibc
package import Sharing
import SystemCalls
package import UniformTypes

/// Creates item sources from the user's input.
package enum ItemSources {
    /// The source for a path: a file, or a folder with everything in it.
    ///
    /// Finds every foreseeable problem before the offer: it walks through a folder once. Blocks on the disk.
    ///
    /// - Parameters:
    ///   - path: relative or absolute; may end with `/`, be `.` or `..`, and may be a link, which is followed, because
    ///     the user named it.
    ///   - name: the name to send it under; nil for its own name (for a link, the name of the link).
    ///   - type: nil for the type by the name's extension and the kind.
    ///   - selection: the entries of a folder that are sent.
    ///   - canName: whether the user can be told to give a name with `--name`.
    ///   - leftOut: called with each entry of a folder that cannot be sent and is left out.
    /// - Throws: `SourceError`: `missing` or `unreadable`, with the path, the reason and advice.
    package static func make(
        path: String,
        name: SafeName? = nil,
        type: UniformType? = nil,
        registry: TypeRegistry = .system,
        selection: TreeSelection = .everything,
        canName: Bool = false,
        leftOut: @escaping (SourceError) -> Void = { _ in }
    ) throws(SourceError) -> any ItemSource {
        if path.utf8.isEmpty { throw SourceError(.missing, "\"\": the path is empty") }
        let mode = try self.mode(of: path)
        let name: SafeName = if let name { name } else { try self.name(of: path, canName: canName) }
        switch mode & S_IFMT {
        case S_IFREG:
            let type = type ?? registry.type(forFileName: name.text, kind: .regularFile)
            return try FileSource(path: path, name: name, type: type)
        case S_IFDIR:
            let type = type ?? registry.type(forFileName: name.text, kind: .directory)
            return try TreeSource(path: path, name: name, type: type, selection: selection, leftOut: leftOut)
        default:
            // It is not opened, because opening some devices has effects.
            throw .special(path, mode: mode, isItem: true)
        }
    }

    /// The type of a file or a folder by its name. The contents are not read.
    ///
    /// - Throws: `SourceError`, same as `make`.
    package static func look(
        at path: String, registry: TypeRegistry = .system
    ) throws(SourceError) -> (type: UniformType, kind: FileKind) {
        if path.utf8.isEmpty { throw SourceError(.missing, "\"\": the path is empty") }
        let mode = try self.mode(of: path)
        let name = try self.name(of: path).text
        switch mode & S_IFMT {
        case S_IFREG:
            // `make` reports a file that cannot be read.
            return (try make(path: path, registry: registry).offered.type, .regularFile)
        case S_IFDIR: return (registry.type(forFileName: name, kind: .directory), .directory)
        default: throw .special(path, mode: mode, isItem: true)
        }
    }

    private static func mode(of path: String) throws(SourceError) -> mode_t {
        // The kernel would end the path at a NUL; this program would not.
        if path.utf8.contains(0) { throw .name(path, .unprintable, advice: "give another path") }
        var status = stat()
        do {
            try systemCall { stat(path, &status) }
            return status.st_mode
        } catch {
            if error.number == ENOENT, lstat(path, &status) == 0 {
                throw .at(path, .missing, "the target of the link does not exist")
            }
            throw .disk(path, error)
        }
    }

    private static func name(of path: String, canName: Bool = false) throws(SourceError) -> SafeName {
        var last = PathText.lastName(of: path)
        if last.isEmpty || last == "." || last == ".." {
            guard let resolved = realpath(path, nil) else { throw .disk(path, .last) }
            defer { free(resolved) }
            last = PathText.lastName(of: String(cString: resolved))
        }
        do {
            return try SafeName(last)
        } catch  where error == .empty {
            throw .at(
                path, .unreadable,
                "has no name of its own; \(canName ? "give it one with --name" : "name what is in it")")
        } catch {
            throw .name(path, error, advice: canName ? "rename it, or give another name with --name" : "rename it")
        }
    }
}
