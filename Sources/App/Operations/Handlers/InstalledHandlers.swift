import Control
import Desktop
import Foundation
package import HandlerCatalog
import Handlers
package import HookSandbox
package import Lines
import Settings
import Sharing
import SystemCalls
import UniformTypes

extension Waft {
    /// The handlers: programs that open arrivals and URLs.
    package var handlers: InstalledHandlers { InstalledHandlers(self) }
}

/// The handlers, the user's choices about them, and their settings. All of it is on the disk, and each call reads it anew.
package struct InstalledHandlers: Sendable {
    package let catalog: HandlerCatalog
    /// The means of the kernel to restrict handlers.
    let support: HookSandbox.Support
    /// Time limit of a handler that declares none.
    let usualTimeLimit: Duration
    /// Schemes of received URLs that are opened, and not only stored.
    let openedSchemes: Set<URLScheme>
    /// Absolute path: the base of relative paths.
    private let workingDirectory: String
    /// Tells those that use the handlers of a change.
    let announce: @Sendable (CatalogSnapshot) async -> Void

    package init(
        catalog: HandlerCatalog, support: HookSandbox.Support, usualTimeLimit: Duration,
        openedSchemes: Set<URLScheme> = [], workingDirectory: String,
        announce: @escaping @Sendable (CatalogSnapshot) async -> Void
    ) {
        (self.catalog, self.support, self.usualTimeLimit) = (catalog, support, usualTimeLimit)
        (self.openedSchemes, self.workingDirectory, self.announce) = (openedSchemes, workingDirectory, announce)
    }

    init(_ waft: Waft) {
        let settings = waft.settings
        var catalog = waft.home.handlerCatalog(settings, includingHook: true)
        catalog.languages = UserLanguages.names(ProcessInfo.processInfo.environment)
        self.init(
            catalog: catalog, support: HookSandbox.support, usualTimeLimit: settings.hookTimeout,
            openedSchemes: Set(settings.openReceivedURLs),
            workingDirectory: FileManager.default.currentDirectoryPath
        ) { snapshot in
            await waft.tell(.refreshHandlers)
            // Without a receiver. An error is shown by `waft desktop status`.
            _ = try? await SchemeEntryFile()?.refresh(
                schemes: snapshot.openedSchemes.map(\.text), home: Home.root(ProcessInfo.processInfo.environment))
        }
    }

    /// Names of the installed handlers.
    package var names: [String] { catalog.load().bundles.map(\.name) }

    /// - Returns: the handlers, the hook and the Inbox; then the problems that belong to none of these.
    package func list() -> (handlers: [HandlerLine], problems: [HandlerProblemLine]) {
        let view = view()
        return (view.snapshot.handlers.map(view.line), view.loose.map(view.line))
    }

    /// - Parameter name: a handler's name or identifier.
    /// - Returns: the handler; or only the problems of one that cannot be used.
    /// - Throws: `WaftError`: `inputMissing` if there is none, `usage` if several have this name.
    package func show(
        _ name: String
    ) throws(WaftError) -> (handlers: [HandlerLine], problems: [HandlerProblemLine]) {
        let view = view()
        do throws(CatalogError) {
            return ([view.line(try view.snapshot.bundle(named: name))], [])
        } catch {
            let problems = view.loose.filter { $0.severity == .unusable && $0.isMeant(by: name) }
            guard error.code == .unknownHandler, !problems.isEmpty else { throw WaftError(error) }
            return ([], problems.map(view.line))
        }
    }

    /// Installs a handler: a program that Waft runs. Relative paths start at the working directory.
    /// - Parameters:
    ///   - types: identifiers of the types that it opens, with all that conform to them.
    ///   - schemes: of URLs, with or without the colon.
    ///   - readable: folders and files that it may read.
    ///   - writable: folders that it may read and write.
    ///   - environment: variables of the receiver that it gets.
    ///   - copying: installs a copy of the program.
    /// - Returns: the handler, and how many of its warnings, the last ones, are of its installation.
    /// - Throws: `WaftError`: `usage`, `inputMissing` if the program is missing, `unexpected` if the disk fails.
    package func add(
        _ name: String, types: [String], schemes: [String], run: String, readable: [String] = [],
        writable: [String] = [], network: Bool = false, sockets: Bool = false, environment: [String] = [],
        copying: Bool = false
    ) async throws(WaftError) -> (line: HandlerLine, warningCount: Int) {
        let recipe = HandlerRecipe(
            name: name, types: types, schemes: schemes, run: run, readable: readable, writable: writable,
            network: network, sockets: sockets, environment: environment, copying: copying)
        let addition = try WaftError.catching { () throws(CatalogError) in
            try catalog.add(recipe, workingDirectory: workingDirectory)
        }
        var line = await changed(addition.bundle)
        line.warnings += addition.warnings
        return (line, addition.warnings.count)
    }

    /// Removes one of the user's own handlers, even a broken one.
    /// - Parameter data: also removes its data folder and its settings.
    /// - Throws: `WaftError`: `inputMissing` if there is none, `usage` if it is not the user's own, `unexpected` if the
    ///   disk fails.
    package func remove(_ name: String, data: Bool) async throws(WaftError) -> HandlerRemovedLine {
        let before = catalog.load()
        let removal: HandlerCatalog.Removal
        do throws(CatalogError) {
            removal = try catalog.remove(name)
        } catch {
            // Handlers that other users installed can be disabled.
            let bundle = try? before.bundle(named: name)
            let canBeDisabled = error.code == .notYours && bundle.map { $0.origin < .configuration } == true
            let word = ShellWord.quoted(ShownText.line(name, limit: 200))
            throw WaftError(error, hint: canBeDisabled ? "waft handlers disable \(word)" : nil)
        }
        if data, let folder = removal.dataFolder {
            do {
                try DataFolder.remove(folder)
            } catch {
                throw WaftError(
                    .unexpected, "the handler is removed, but not its data folder \(folder): \(error)")
            }
        }
        if data, let identifier = removal.identifier {
            try WaftError.catching { () throws(CatalogError) in _ = try catalog.removeSettings(of: identifier) }
        }
        let snapshot = catalog.load()
        await announce(snapshot)
        let after = snapshot.choices
        return HandlerRemovedLine(
            path: removal.path, dataFolder: removal.dataFolder, isDataRemoved: data && removal.dataFolder != nil,
            forgottenTypes: before.choices.typeDefaults.keys.filter { after.typeDefaults[$0] == nil }
                .map(\.identifier).sorted(),
            forgottenSchemes: before.choices.schemeDefaults.keys.filter { after.schemeDefaults[$0] == nil }.sorted()
                .map(\.text))
    }

    /// - Throws: `WaftError`: `inputMissing` if there is none, `usage` if it is built in.
    package func enable(_ name: String) async throws(WaftError) -> HandlerLine {
        await changed(try WaftError.catching { () throws(CatalogError) in try catalog.enable(name) })
    }

    /// Lets a handler have no items and no URLs.
    /// - Throws: as `enable`.
    package func disable(_ name: String) async throws(WaftError) -> HandlerLine {
        await changed(try WaftError.catching { () throws(CatalogError) in try catalog.disable(name) })
    }

    /// Announces the change of a handler.
    private func changed(_ bundle: HandlerBundle) async -> HandlerLine {
        let view = view()
        await announce(view.snapshot)
        return view.line(bundle)
    }

    func view() -> HandlerView { HandlerView(catalog.load(), self) }

    // MARK: Defaults

    /// The type or scheme of a default.
    private enum Subject {
        case type(UniformType)
        case scheme(URLScheme)
    }

    /// The user's defaults: for types, then for schemes.
    package func defaults() -> [HandlerDefaultLine] {
        let snapshot = catalog.load()
        let types = snapshot.choices.typeDefaults.keys.sorted { $0.identifier < $1.identifier }.map(Subject.type)
        let schemes = snapshot.choices.schemeDefaults.keys.sorted().map(Subject.scheme)
        return (types + schemes).map { line($0, snapshot) }
    }

    /// - Parameter word: a type, or a scheme. One that ends with a colon is a scheme; so is one that is no type and that a
    ///   handler opens.
    /// - Throws: `WaftError` `usage` if it is neither.
    package func `default`(for word: String) throws(WaftError) -> HandlerDefaultLine {
        let snapshot = catalog.load()
        return line(try subject(word, snapshot), snapshot)
    }

    /// Lets a handler be asked first.
    /// - Throws: `WaftError`: `usage` if the word is no type or scheme, or the handler does not open it; `inputMissing` if
    ///   there is no such handler.
    package func setDefault(_ name: String, for word: String) async throws(WaftError) -> HandlerDefaultLine {
        let subject = try subject(word, catalog.load())
        _ = try WaftError.catching { () throws(CatalogError) in
            switch subject {
            case .type(let type): try catalog.setDefault(name, for: type)
            case .scheme(let scheme): try catalog.setDefault(name, for: scheme)
            }
        }
        let snapshot = catalog.load()
        await announce(snapshot)
        return line(subject, snapshot)
    }

    /// - Returns: the identifier of the former default; nil if there was none.
    /// - Throws: `WaftError` `usage` if the word is no type or scheme.
    package func removeDefault(
        for word: String
    ) async throws(WaftError) -> (line: HandlerDefaultLine, former: String?) {
        let subject = try subject(word, catalog.load(), isKnown: true)
        let former = try WaftError.catching { () throws(CatalogError) in
            switch subject {
            case .type(let type): try catalog.removeDefault(for: type)
            case .scheme(let scheme): try catalog.removeDefault(for: scheme)
            }
        }
        let snapshot = catalog.load()
        if former != nil { await announce(snapshot) }
        return (line(subject, snapshot), former?.text)
    }

    /// - Parameter isKnown: whether a default is enough, although no handler declares its type any more.
    private func subject(
        _ text: String, _ snapshot: CatalogSnapshot, isKnown: Bool = false
    ) throws(WaftError) -> Subject {
        try WaftError.catching { () throws(CatalogError) in
            if text.hasSuffix(":") { return .scheme(try URLScheme(named: text)) }
            if isKnown, let type = UniformType(text), snapshot.choices.typeDefaults[type] != nil { return .type(type) }
            do throws(CatalogError) {
                return .type(snapshot.registry.resolved(try snapshot.registry.type(named: text)))
            } catch {
                guard let scheme = URLScheme(text),
                    snapshot.openedSchemes.contains(scheme) || snapshot.choices.schemeDefaults[scheme] != nil
                else { throw error }
                return .scheme(scheme)
            }
        }
    }

    private func line(_ subject: Subject, _ snapshot: CatalogSnapshot) -> HandlerDefaultLine {
        let (type, scheme, identifier): (String?, String?, BundleIdentifier?) =
            switch subject {
            case .type(let type): (type.identifier, nil, snapshot.choices.typeDefaults[type])
            case .scheme(let scheme): (nil, scheme.text, snapshot.choices.schemeDefaults[scheme])
            }
        guard let identifier else { return HandlerDefaultLine(type: type, scheme: scheme) }
        let bundle = snapshot.bundle(identifier)
        return HandlerDefaultLine(
            type: type, scheme: scheme, handler: identifier.text, name: bundle?.name,
            state: bundle.map { snapshot.isEnabled($0) ? .enabled : .disabled } ?? .missing,
            isInbox: bundle?.isBuiltIn ?? false)
    }
}

extension HandlerProblem {
    /// Whether `text` can mean the handler that has the problem.
    fileprivate func isMeant(by text: String) -> Bool {
        let text = text.lowercased()
        return [name.lowercased(), name.lowercased() + ".handler", identifier?.text.lowercased()].contains(text)
    }
}

extension WaftError {
    /// - Parameter place: the option with the value.
    package init(_ error: CatalogError, at place: String? = nil, hint: String? = nil) {
        let code: WaftExit =
            switch error.code {
            case .ambiguousName, .unfit, .nameTaken, .notYours: .usage
            case .unknownHandler, .missingProgram: .inputMissing
            case .storage: .unexpected
            }
        self.init(
            code, place.map { "\($0): \(error)" } ?? error.description,
            hint: hint ?? (error.code == .unknownHandler ? "see: waft handlers" : nil))
    }

    /// Does something with the catalog.
    static func catching<Value>(_ body: () throws(CatalogError) -> Value) throws(WaftError) -> Value {
        do throws(CatalogError) {
            return try body()
        } catch {
            throw WaftError(error)
        }
    }
}
