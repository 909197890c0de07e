import Sharing
import UniformTypes

/// The description of a new handler: the arguments of `waft handlers add`.
package struct HandlerRecipe: Sendable {
    /// The handler's name; its folder has the same name.
    package var name: String
    /// Uniform type identifiers of the items that it opens.
    package var types: [String]
    /// Schemes of URLs that it opens, with or without the colon.
    package var schemes: [String]
    /// Path of the program to run; a relative one starts at the working directory.
    package var run: String
    /// Folders and files it may read; relative paths start at the working directory.
    package var readable: [String]
    /// Folders it may write to; relative paths start at the working directory.
    package var writable: [String]
    package var network: Bool
    /// Whether it may connect to Unix sockets.
    package var sockets: Bool
    /// Names of variables of the receiver's environment that it gets.
    package var environment: [String]
    /// Whether the program is copied into the bundle. If not, the bundle starts the program in its own place, and
    /// changes of the program take effect at once.
    package var copying: Bool

    package init(
        name: String,
        types: [String] = [],
        schemes: [String] = [],
        run: String,
        readable: [String] = [],
        writable: [String] = [],
        network: Bool = false,
        sockets: Bool = false,
        environment: [String] = [],
        copying: Bool = true
    ) {
        self.name = name
        self.types = types
        self.schemes = schemes
        self.run = run
        self.readable = readable
        self.writable = writable
        self.network = network
        self.sockets = sockets
        self.environment = environment
        self.copying = copying
    }
}

/// A recipe in which every value is valid.
struct CheckedRecipe {
    let name: SafeName
    let types: [UniformType]
    let schemes: [URLScheme]
    let rules: LaunchRules
    /// Warnings for the user that do not prevent the installation.
    private(set) var warnings: [String] = []

    /// - Throws: `CatalogError` `unfit`.
    init(
        _ recipe: HandlerRecipe, registry: TypeRegistry, closed: ClosedPaths, workingDirectory: String
    ) throws(CatalogError) {
        name = try Self.name(recipe.name)
        guard !recipe.types.isEmpty || !recipe.schemes.isEmpty else {
            throw .unfit("a handler must open something: give it a type such as public.image, or a URL scheme")
        }
        var types: [UniformType] = []
        for text in recipe.types {
            let type = try registry.type(named: text)
            if type.isDynamic {
                throw .unfit("\(text.prefix(64)) is a dynamic identifier; name a declared type")
            }
            if !registry.isDeclared(type) {
                warnings.append("nothing declares the type \(type); items must be sent as exactly that")
            }
            if !types.contains(type) { types.append(type) }
        }
        self.types = types
        schemes = try recipe.schemes.map { text throws(CatalogError) in
            let scheme = try URLScheme(named: text)
            guard !scheme.isBuiltIn else { throw .unfit("\(scheme): is built in; no handler can claim it") }
            return scheme
        }
        var rules = LaunchRules(allowsNetwork: recipe.network, allowsSockets: recipe.sockets)
        if !recipe.copying {
            let program = Paths.absolute(recipe.run, from: workingDirectory)
            if let trouble = closed.trouble(program, .read) {
                throw .unfitProgram(program, "\(trouble), or use --copy")
            }
            // Otherwise the script in the bundle could not execute it.
            rules.readablePaths = [program]
        }
        for path in recipe.readable {
            let absolute = Paths.absolute(path, from: workingDirectory)
            guard Paths.real(absolute) != nil else { throw .unfit("\(absolute), which it should read, does not exist") }
            rules.readablePaths.append(absolute)
        }
        for path in recipe.writable {
            let absolute = Paths.absolute(path, from: workingDirectory)
            // Checked first, because a closed place need not exist.
            if let trouble = closed.trouble(absolute, .write) { throw .unfit(trouble) }
            guard Paths.isFolder(absolute) else { throw .unfit("\(absolute) is not a folder that can be written to") }
            rules.writablePaths.append(absolute)
        }
        if let trouble = rules.trouble(closed) { throw .unfit(trouble.reason) }
        guard max(rules.readablePaths.count, rules.writablePaths.count) <= CatalogLimits.namedPaths else {
            throw .unfit("more than \(CatalogLimits.namedPaths) readable or writable paths are too many")
        }
        for name in recipe.environment {
            if let flaw = ProgramVariables.flaw(of: name) {
                throw .unfit("\"\(name.prefix(64))\" cannot be given to it: \(flaw)")
            }
        }
        guard recipe.environment.count <= ProgramVariables.maximumNames else {
            throw .unfit("more than \(ProgramVariables.maximumNames) variables are too many")
        }
        rules.environment = recipe.environment
        self.rules = rules
    }

    /// The names of the handlers that have no bundle.
    private static let ownNames = [HandlerBundle.inbox.name, HandlerBundle.hookName].map { $0.lowercased() }

    private static func name(_ text: String) throws(CatalogError) -> SafeName {
        let reason: String
        do {
            let name = try SafeName(text)
            _ = try SafeName(text + BundleFolder.suffix)
            let isTaken = ownNames.contains(text.lowercased())
            if !text.hasPrefix("."), !text.hasPrefix("-"), !isTaken, !text.allSatisfy(\.isWhitespace) { return name }
            reason = isTaken ? "the name is reserved" : "it starts with . or -, or is blank"
        } catch {
            reason = "\(error)"
        }
        throw .unfit("a handler cannot be called \"\(text.prefix(64))\": \(reason)")
    }
}

extension Paths {
    /// The path from the root, without `.`, `..` and doubled slashes. Does not resolve links.
    static func absolute(_ path: String, from folder: String) -> String {
        var names: [Substring] = []
        let whole = PathText.isAbsolute(path) ? path : PathText.joined(folder, path)
        for name in PathText.names(in: whole) where name != "." {
            if name == ".." { _ = names.popLast() } else { names.append(name) }
        }
        return "/" + names.joined(separator: "/")
    }
}
