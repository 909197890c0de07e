import Foundation
import Glibc
import ItemSources
import Lines
import Sending
import Sharing
import UniformTypes

/// Item sources from the words of the command line.
struct SendSources {
    var paths: [String]
    var texts: [String]
    var urls: [String]
    /// Paths of programs that make items.
    var programs: [String] = []
    /// The type of the activity for which they are asked.
    var activity = SendSources.airdrop
    var name: String?
    var type: String?
    /// How many peers it goes to.
    var peers: Int
    /// The named items, and the entries of folders, that are sent.
    var selection = TreeSelection.everything
    /// Whether the command can be told to send without the parts that cannot be sent.
    var canLeaveOut = true
    /// Whether the command has `--name`.
    var canName = false
    /// Called with each item or entry that cannot be sent and is left out.
    var leftOut: (SourceError) -> Void = { _ in }

    static let airdrop = "org.waft.activity.airdrop"
    static let queue = "org.waft.activity.queue"

    /// Looks at every file; finds all that can be found wrong before anything is offered.
    /// - Throws: `CommandError`: 64 for wrong words, 66 for inputs that cannot be read.
    func make() throws(CommandError) -> [any ItemSource] {
        guard count > 0 else {
            throw CommandError(.usage, "nothing to send", hint: "for example: waft send photo.jpg --to kitchen")
        }
        guard count <= Limits.items else {
            throw CommandError(
                .usage, "\(count) items are too many: at most \(Limits.items) can be sent at once",
                hint: "send the folder that they are in: it is one item")
        }
        if count > 1, name != nil || type != nil {
            throw CommandError(.usage, "--name and --type need a single item, and there are \(count)")
        }
        if !programs.isEmpty, name != nil || type != nil {
            throw CommandError(
                .usage, "--name and --type do not go with --source: the program's placeholder has them")
        }
        let (name, type) = (try safeName(), try uniformType())
        let paths = paths.filter { !isExcluded($0) }
        guard paths.count + texts.count + urls.count + programs.count > 0 else {
            throw CommandError(.usage, "nothing to send: --exclude leaves out all of it")
        }
        // A URL that is none was typed wrong, and is no input that is missing.
        for url in urls {
            do throws(SourceError) {
                _ = try URLSource(url, name: name, type: type)
            } catch {
                throw CommandError(.usage, TerminalText.escaped("\(url): \(error.message)", limit: 1_000))
            }
        }
        let sources: [any ItemSource]
        do throws(SourceError) {
            sources = try make(paths, name, type)
        } catch {
            throw CommandError(error, hint: optionHint ?? (error.code == .unreadable ? hint : nil))
        }
        // `--type` needs a single item. Without it the type always agrees with the item.
        if type != nil, let disagreement = sources.first?.offered.disagreement(by: .system) {
            throw CommandError(.usage, "--type: \(TerminalText.escaped(disagreement, limit: 1_000))")
        }
        if peers > 1, let single = sources.first(where: { ($0 as? ProgramSource)?.isForMany == false }) {
            throw CommandError(
                .usage, "\(TerminalText.escaped(single.origin, limit: 1_000)) makes its item once only",
                hint: "give one peer, or let its placeholder say \"repeatable\": true")
        }
        return sources
    }

    private var count: Int { paths.count + texts.count + urls.count + programs.count }

    private func isExcluded(_ path: String) -> Bool {
        if path == "-" || selection.excluded.isEmpty { return false }
        let name = PathText.lastName(of: path)
        return selection.excludes(name, path: name, isFolder: Self.isFolder(path))
    }

    /// The paths, each once: patterns of a shell such as `a*` and `*.txt` can name a file twice.
    /// - Parameter leftOut: called for each that is named again.
    static func once(_ paths: [String], leftOut: (SourceError) -> Void) -> [String] {
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
        guard canLeaveOut, !selection.skipsUnsendable, hasRest, !paths.contains("-") else { return nil }
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
                if selection.skipsUnsendable {
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
                if CommandWords.isRepaired(path) {
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

    private func safeName() throws(CommandError) -> SafeName? {
        guard let name else { return nil }
        do {
            return try SafeName(name)
        } catch {
            throw CommandError(.usage, "--name cannot be used: \(TerminalText.escaped(error.said(of: name)))")
        }
    }

    private func uniformType() throws(CommandError) -> UniformType? {
        guard let type else { return nil }
        // Identifiers are written like reversed domain names, so that each has its author.
        if type.contains("."), let uniform = UniformType(type) { return uniform }
        let shown = TerminalText.escaped(type)
        let meant = TypeRegistry.system.type(forExtension: type, kind: .regularFile)
        throw CommandError(
            .usage, "--type \(shown) is not a uniform type identifier",
            hint: meant.map { "for .\(shown) files: --type \($0)" }
                ?? "for example: com.adobe.pdf; waft type FILE says which one a file has")
    }
}
