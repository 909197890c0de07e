import Foundation
import Glibc
import ItemSources
import Lines
package import Sharing
import UniformTypes

/// An item whose bytes a face hands over, once, when a peer has accepted it.
package struct HandedItem: Sendable {
    package var name: String
    /// The bytes of a folder are a tar archive.
    package var isFolder: Bool
    /// Bytes; nil if they are not known. Of a folder: of all its files.
    package var size: UInt64?
    /// Of a folder: its files, folders and links, itself included.
    package var entries: UInt64?
    /// Called when the bytes are to come.
    package var want: @Sendable (any HandedBytes) -> Void

    package init(
        name: String, isFolder: Bool, size: UInt64?, entries: UInt64?,
        want: @escaping @Sendable (any HandedBytes) -> Void
    ) {
        (self.name, self.isFolder, self.size, self.entries, self.want) = (name, isFolder, size, entries, want)
    }
}

/// Item sources from paths, texts, URLs, programs and a face.
package struct SendSources {
    package var paths: [String]
    package var texts: [String]
    package var urls: [String]
    /// Paths of programs that make items.
    package var programs: [String] = []
    /// They come after the others.
    package var handed: [HandedItem] = []
    /// The type of the activity for which they are asked.
    package var activity = SendSources.airdrop
    package var name: String?
    package var type: String?
    /// How many peers it goes to.
    package var peers: Int
    /// Patterns of the items, and of the entries of folders, that are left out, as `TreeSelection` has them.
    package var excluded: [String] = []
    /// Whether items and entries that cannot be sent are left out; otherwise they are a fault.
    package var skipsUnsendable = false
    /// Whether the command can be told to send without the parts that cannot be sent.
    package var canLeaveOut = true
    /// Whether the command has `--name`.
    package var canName = false
    /// Called with each item or entry that cannot be sent and is left out.
    package var leftOut: (SourceError) -> Void = { _ in }
    /// Whether bytes of a path that are not UTF-8 were replaced: it names no file.
    package var isRepaired: (String) -> Bool = { _ in false }

    /// - Parameter peers: how many peers it goes to.
    package init(
        paths: [String], texts: [String] = [], urls: [String] = [], programs: [String] = [], peers: Int = 1
    ) {
        (self.paths, self.texts, self.urls, self.programs) = (paths, texts, urls, programs)
        self.peers = peers
    }

    package static let airdrop = "org.waft.activity.airdrop"
    package static let queue = "org.waft.activity.queue"

    /// Looks at every file; finds all that can be found wrong before anything is offered.
    /// - Throws: `WaftError`: 64 for wrong words, 66 for inputs that cannot be read.
    package func make() throws(WaftError) -> [any ItemSource] {
        guard count > 0 else {
            throw WaftError(.usage, "nothing to send", hint: "for example: waft send photo.jpg --to kitchen")
        }
        guard count <= Limits.items else {
            throw WaftError(
                .usage, "\(count) items are too many: at most \(Limits.items) can be sent at once",
                hint: "send the folder that they are in: it is one item")
        }
        if count > 1, name != nil || type != nil {
            throw WaftError(.usage, "--name and --type need a single item, and there are \(count)")
        }
        if !programs.isEmpty, name != nil || type != nil {
            throw WaftError(
                .usage, "--name and --type do not go with --source: the program's placeholder has them")
        }
        let (name, type) = (try safeName(), try uniformType())
        let paths = paths.filter { !isExcluded($0) }
        guard paths.count + texts.count + urls.count + programs.count + handed.count > 0 else {
            throw WaftError(.usage, "nothing to send: --exclude leaves out all of it")
        }
        // A URL that is none was typed wrong, and is no input that is missing.
        for url in urls {
            do throws(SourceError) {
                _ = try URLSource(url, name: name, type: type)
            } catch {
                throw WaftError(.usage, "\(url): \(error.message)")
            }
        }
        let sources: [any ItemSource]
        do throws(SourceError) {
            sources = try make(paths, name, type)
        } catch {
            throw WaftError(error, hint: optionHint ?? (error.code == .unreadable ? hint : nil))
        }
        // `--type` needs a single item. Without it the type always agrees with the item.
        if type != nil, let disagreement = sources.first?.offered.disagreement(by: .system) {
            throw WaftError(.usage, "--type: \(disagreement)")
        }
        if peers > 1, let single = sources.first(where: { ($0 as? ProgramSource)?.isForMany == false }) {
            throw WaftError(
                .usage, "\(single.origin) makes its item once only",
                hint: "give one peer, or let its placeholder say \"repeatable\": true")
        }
        return sources
    }

    /// The subject that the only program among some sources gives; nil for none.
    package static func subject(of sources: [any ItemSource]) -> String? {
        let subjects = sources.lazy.compactMap { ($0 as? ProgramSource)?.subject }.prefix(2)
        return subjects.count == 1 ? subjects.first : nil
    }

    private var selection: TreeSelection { TreeSelection(excluded: excluded, skipsUnsendable: skipsUnsendable) }

    private var count: Int { paths.count + texts.count + urls.count + programs.count + handed.count }

    private func isExcluded(_ path: String) -> Bool {
        if path == "-" || excluded.isEmpty { return false }
        let name = PathText.lastName(of: path)
        return selection.excludes(name, path: name, isFolder: Self.isFolder(path))
    }

    /// The paths, each once: patterns of a shell such as `a*` and `*.txt` can name a file twice.
    /// - Parameter leftOut: called for each that is named again.
    package static func once(_ paths: [String], leftOut: (SourceError) -> Void) -> [String] {
        var named: Set<String> = []
        return paths.filter { path in
            if path == "-" || named.insert(place(path)).inserted { return true }
            leftOut(SourceError(.unreadable, "\(PathText.printable(path)) is named twice; it is sent once"))
            return false
        }
    }

    /// An absolute path, without `.` and repeated slashes.
    private static func place(_ path: String) -> String {
        PathText.names(in: PathText.absolute(path)).filter { $0 != "." }.joined(separator: "/")
    }

    private static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Where options go, if a missing file has the form of one: it stood behind `--`.
    private var optionHint: String? {
        guard paths.contains(where: { $0.hasPrefix("--") && !Self.exists($0) }) else { return nil }
        return "each word after -- is the name of a file: put --to and other options in front of it"
    }

    /// How to send the rest of several items or of a folder; nil if there is no rest.
    private var hint: String? {
        let hasRest = count > 1 || paths.contains(where: Self.isFolder)
        guard canLeaveOut, !skipsUnsendable, hasRest, !paths.contains("-") else { return nil }
        return "--skip-unreadable sends the rest; --exclude PATTERN leaves files and folders out by name"
    }

    /// - Throws: one fault with the items that cannot be sent, in their order.
    private func make(
        _ paths: [String], _ name: SafeName?, _ type: UniformType?
    ) throws(SourceError) -> [any ItemSource] {
        var sources: [any ItemSource] = []
        sources.reserveCapacity(count)
        var found: SourceError?
        var skipped: SourceError?
        /// - Returns: whether to check further items for more faults.
        func add(_ make: () throws(SourceError) -> (any ItemSource)?) -> Bool {
            do throws(SourceError) {
                if let source = try make(), found == nil { sources.append(source) }
                return true
            } catch {
                if skipsUnsendable {
                    leftOut(error)
                    skipped = skipped ?? error
                    return true
                }
                guard var faults = found else {
                    found = error
                    return true
                }
                defer { found = faults }
                return faults.add(error)
            }
        }
        for path in paths {
            let goesOn = add { () throws(SourceError) in
                if path == "-" { return try standardInput(name, type) }
                if isRepaired(path) {
                    throw SourceError(.unreadable, "\(PathText.printable(path)): \(NameError.notUTF8); rename it")
                }
                return try ItemSources.make(
                    path: path, name: name, type: type, selection: selection, canName: canName, leftOut: leftOut)
            }
            if !goesOn { break }
        }
        for text in texts { sources.append(TextSource(text, name: name, type: type)) }
        for url in urls {
            guard add({ () throws(SourceError) in try URLSource(url, name: name, type: type) }) else { break }
        }
        for path in programs {
            let goesOn = add { () throws(SourceError) in
                if let source = try ProgramSource.asking(path, activity: activity) { return source }
                let fault = SourceError(.unreadable, "\(PathText.printable(path)) has nothing to share")
                leftOut(fault)
                skipped = skipped ?? fault
                return nil
            }
            if !goesOn { break }
        }
        for item in handed {
            guard
                add({ () throws(SourceError) in
                    try HandedSource(
                        name: item.name, kind: item.isFolder ? .tree : .file, size: item.size, entries: item.entries,
                        want: item.want)
                })
            else { break }
        }
        if let found { throw found }
        // If no item is left, the first problem is the failure, as without --skip-unreadable.
        if sources.isEmpty, let skipped { throw skipped }
        return sources
    }

    private func standardInput(_ name: SafeName?, _ type: UniformType?) throws(SourceError) -> any ItemSource {
        if isatty(STDIN_FILENO) == 1 {
            throw SourceError(.unreadable, "standard input is a terminal; pipe something in, or use --text TEXT")
        }
        if peers > 1 || paths.count(where: { $0 == "-" }) > 1 {
            throw SourceError(.unreadable, "standard input can be read only once: give one - and one peer")
        }
        return try StandardInputSource(name: name, type: type)
    }

    private func safeName() throws(WaftError) -> SafeName? {
        guard let name else { return nil }
        do {
            return try SafeName(name)
        } catch {
            throw WaftError(.usage, "--name cannot be used: \(error.said(of: name))")
        }
    }

    private func uniformType() throws(WaftError) -> UniformType? {
        guard let type else { return nil }
        // Identifiers are written like reversed domain names, so that each has its author.
        if type.contains("."), let uniform = UniformType(type) { return uniform }
        let meant = TypeRegistry.system.type(forExtension: type, kind: .regularFile)
        throw WaftError(
            .usage, "--type \(type) is not a uniform type identifier",
            hint: meant.map { "for .\(type) files: --type \($0)" }
                ?? "for example: com.adobe.pdf; waft type FILE says which one a file has")
    }
}
