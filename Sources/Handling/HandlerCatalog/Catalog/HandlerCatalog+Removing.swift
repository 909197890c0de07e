import Foundation
import SystemCalls

extension HandlerCatalog {
    /// The result of `remove`.
    package struct Removal: Sendable {
        /// Absolute path of the removed bundle.
        package let path: String
        /// Absolute path of the handler's data folder, which is kept; nil if there is none or another bundle uses it.
        package let dataFolder: String?
        /// The identifier of a handler whose data folder and settings no other bundle uses now; nil otherwise.
        package let identifier: BundleIdentifier?
    }

    /// Removes a handler from the user's folder, even a broken one, and the user's choices about it. Keeps its data
    /// folder and its settings.
    ///
    /// - Parameter name: as in `CatalogSnapshot.bundle(named:)`; for a bundle that cannot be used, its folder's name.
    /// - Throws: `CatalogError` `unknownHandler`, `ambiguousName`, `notYours`, `storage`.
    @discardableResult
    package func remove(_ name: String) throws(CatalogError) -> Removal {
        let snapshot = load()
        let (path, identifier) = try removable(name, in: snapshot)
        let folder = UserFolder(path: folders.user)
        let lock = try folder.locked()
        defer { extendLifetime(lock) }
        do throws(SystemError) {
            // First moves the bundle away, so that no process starts half a bundle.
            let work = try folder.makeWorkFolder()
            defer { try? FileManager.default.removeItem(atPath: work) }
            try systemCall { rename(path, work + "/" + Paths.name(of: path)) }
            try SmallFile.syncFolder(folder.path)
        } catch {
            throw .storage(path, error)
        }
        // Another bundle with this identifier may be found now. Then the choices are about that one.
        guard let identifier, load().bundle(identifier) == nil else {
            return Removal(path: path, dataFolder: nil, identifier: nil)
        }
        do {
            try firstLaunches?.forget(identifier)
        } catch {
            throw .storage(firstLaunches?.path ?? path, error)
        }
        let choices = choicesFile.read().choices
        let isChosen =
            choices.disabled.contains(identifier) || choices.typeDefaults.values.contains(identifier)
            || choices.schemeDefaults.values.contains(identifier)
        if isChosen { try change { $0.forget(identifier) } }
        let data = folders.data(of: identifier)
        return Removal(path: path, dataFolder: Paths.isFolder(data) ? data : nil, identifier: identifier)
    }

    private func removable(
        _ name: String,
        in snapshot: CatalogSnapshot
    ) throws(CatalogError) -> (path: String, identifier: BundleIdentifier?) {
        let plain = name.hasSuffix(BundleFolder.suffix) ? String(name.dropLast(BundleFolder.suffix.count)) : name
        let unusable = snapshot.problems.first { problem in
            problem.severity == .unusable && problem.name == plain && Paths.folder(of: problem.path) == folders.user
        }
        do throws(CatalogError) {
            let bundle = try snapshot.bundle(named: name)
            try bundle.checkInstalled()
            if bundle.origin == .user { return (bundle.path, bundle.identifier) }
            if unusable == nil { throw CatalogError.notYours(bundle.path) }
        } catch {
            guard error.code == .unknownHandler, unusable != nil else { throw error }
        }
        guard let unusable else { throw .unknownHandler(name) }
        // Keeps the choices of an unusable bundle: they may be about another bundle with its identifier.
        return (unusable.path, nil)
    }
}

extension UserChoices {
    /// Removes all choices about one handler.
    fileprivate mutating func forget(_ identifier: BundleIdentifier) {
        disabled.remove(identifier)
        typeDefaults = typeDefaults.filter { $0.value != identifier }
        schemeDefaults = schemeDefaults.filter { $0.value != identifier }
    }
}
