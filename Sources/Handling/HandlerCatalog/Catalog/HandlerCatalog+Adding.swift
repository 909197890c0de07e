import Foundation
import Sharing
import SystemCalls

extension HandlerCatalog {
    /// The result of `add`.
    package struct Addition: Sendable {
        package let bundle: HandlerBundle
        /// Warnings for the user, one line each.
        package let warnings: [String]
    }

    /// Installs a handler into the user's folder: a bundle with an `Info.plist` and either the program or a script that
    /// starts the program in its own place. Other processes see the whole bundle or none.
    ///
    /// - Parameter workingDirectory: absolute; the folder for relative paths.
    /// - Throws: `CatalogError` `unfit`, `missingProgram`, `nameTaken`, `storage`.
    @discardableResult
    package func add(
        _ recipe: HandlerRecipe,
        workingDirectory: String = FileManager.default.currentDirectoryPath
    ) throws(CatalogError) -> Addition {
        // Checked first, so that a refused recipe does not leave an empty folder behind.
        let context = context(of: list().bundles)
        let checked = try CheckedRecipe(
            recipe, registry: load().registry, closed: context.closed, workingDirectory: workingDirectory)
        let program = try ProgramFile.opening(
            Paths.absolute(recipe.run, from: workingDirectory),
            isRunThere: !recipe.copying
        )
        let folder = UserFolder(path: folders.user)
        // Held while free names and identifiers are looked for.
        let lock = try folder.locked()
        defer { extendLifetime(lock) }
        let snapshot = load()
        try Self.checkNameIsFree(checked.name, in: snapshot)
        let identifier = Self.freeIdentifier(for: checked.name.text, in: snapshot)
        let target = folder.path + "/" + checked.name.text + BundleFolder.suffix
        do throws(SystemError) {
            let work = try folder.makeWorkFolder()
            do throws(SystemError) {
                try BundleWriting(checked, identifier).write(program, copying: recipe.copying, into: work)
                try folder.place(work, at: target)
            } catch {
                try? FileManager.default.removeItem(atPath: work)
                throw error
            }
        } catch {
            // EEXIST: the name belongs to something that is not a usable bundle.
            throw error.number == EEXIST ? .nameTaken(checked.name.text) : .storage(target, error)
        }
        let reading = BundleFolder(path: target, origin: .user).read(context)
        switch reading.result {
        case .success(let bundle): return Addition(bundle: bundle, warnings: checked.warnings + reading.warnings)
        case .failure(let fault):
            // For example, the file system allows no executables.
            try? FileManager.default.removeItem(atPath: target)
            throw .unfit("\(target) could not be used: \(fault)")
        }
    }

    private static func checkNameIsFree(_ name: SafeName, in snapshot: CatalogSnapshot) throws(CatalogError) {
        let name = name.text.lowercased()
        for bundle in snapshot.bundles where bundle.origin == .user {
            guard bundle.name.lowercased() != name, bundle.folderName.lowercased() != name else {
                throw .nameTaken(bundle.name)
            }
        }
    }

    /// `org.waft.local.photos`, with a number after it if another handler or a choice of the user has that identifier.
    private static func freeIdentifier(for name: String, in snapshot: CatalogSnapshot) -> BundleIdentifier {
        var label = ""
        for byte in name.lowercased().utf8 {
            let isPlain =
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            if isPlain {
                label.unicodeScalars.append(Unicode.Scalar(byte))
            } else if !label.hasSuffix("-") {
                label += "-"
            }
        }
        label = String(label.drop { $0 == "-" }.prefix(100))
        while label.hasSuffix("-") { label.removeLast() }
        if label.isEmpty { label = "handler" }
        let choices = snapshot.choices
        let known = Set(snapshot.bundles.map(\.identifier) + snapshot.problems.compactMap(\.identifier))
            .union(choices.disabled).union(choices.typeDefaults.values).union(choices.schemeDefaults.values)
        var number = 1
        while true {
            let text = "org.waft.local." + label + (number == 1 ? "" : "-\(number)")
            // The identifier is always well formed, and the number of handlers is finite.
            if let identifier = BundleIdentifier(text), !known.contains(identifier) { return identifier }
            number += 1
        }
    }
}
