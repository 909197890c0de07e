import Foundation
import PropertyLists
import Sharing
import SystemCalls
import UniformTypes

/// The files of a new bundle.
struct BundleWriting {
    private let recipe: CheckedRecipe
    private let identifier: BundleIdentifier

    init(_ recipe: CheckedRecipe, _ identifier: BundleIdentifier) {
        self.recipe = recipe
        self.identifier = identifier
    }

    /// - Parameter folder: absolute path of an empty folder.
    /// - Throws: the kernel's error.
    func write(_ program: borrowing ProgramFile, copying: Bool, into folder: String) throws(SystemError) {
        let executable = copying ? Self.executableName(for: program.path) : "run"
        try writeInfo(to: folder + "/" + BundleFolder.infoName, executable: executable)
        try Self.writeFile(folder + "/" + executable, mode: 0o755) { file throws(SystemError) in
            if copying {
                try program.copy(to: file)
            } else {
                let word = ShellWord.inQuotes(program.path)
                try SmallFile.write(Array("#!/bin/sh\nexec \(word) \"$@\"\n".utf8), to: file)
            }
        }
        try systemCall { chmod(folder, 0o755) }
        try SmallFile.syncFolder(folder)
    }

    private func writeInfo(to path: String, executable: String) throws(SystemError) {
        guard let info = try? PropertyList(recipe, identifier, executable: executable).encoded(as: .xml) else {
            throw SystemError(EINVAL)
        }
        try Self.writeFile(path, mode: 0o644) { file throws(SystemError) in
            try SmallFile.write(info, to: file)
        }
    }

    private static func writeFile(
        _ path: String,
        mode: mode_t,
        _ body: (Int32) throws(SystemError) -> Void
    ) throws(SystemError) {
        let file = try FileDescriptor.opening(path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        try body(file.raw)
        try finish(file.raw, mode: mode)
    }

    /// Sets the mode last, independent of the umask: until then no process can run half a program.
    private static func finish(_ file: Int32, mode: mode_t) throws(SystemError) {
        try systemCall { fchmod(file, mode) }
        try systemCall { fsync(file) }
    }

    /// The program keeps its name, unless the bundle uses that name for another file.
    private static func executableName(for path: String) -> String {
        let name = Paths.name(of: path)
        let isFit = (try? SafeName(name)) != nil && name.lowercased() != BundleFolder.infoName.lowercased()
        return isFit ? name : "program"
    }
}

extension PropertyList {
    /// The `Info.plist` of a new bundle.
    fileprivate init(_ recipe: CheckedRecipe, _ identifier: BundleIdentifier, executable: String) {
        let name = PropertyList.string(recipe.name.text)
        var keys: [String: PropertyList] = [
            "CFBundleIdentifier": .string(identifier.text), "CFBundleName": name,
            "CFBundleExecutable": .string(executable),
        ]
        if !recipe.types.isEmpty {
            keys["CFBundleDocumentTypes"] = .array([
                .dictionary([
                    "CFBundleTypeName": name, "LSItemContentTypes": .texts(recipe.types.map(\.identifier)),
                    "CFBundleTypeRole": .string("Viewer"),
                ])
            ])
        }
        if !recipe.schemes.isEmpty {
            keys["CFBundleURLTypes"] = .array([
                .dictionary([
                    "CFBundleURLName": .string(identifier.text),
                    "CFBundleURLSchemes": .texts(recipe.schemes.map(\.text)),
                ])
            ])
        }
        let rules = recipe.rules
        if !rules.readablePaths.isEmpty { keys["WaftReadablePaths"] = .texts(rules.readablePaths) }
        if !rules.writablePaths.isEmpty { keys["WaftWritablePaths"] = .texts(rules.writablePaths) }
        if rules.allowsNetwork { keys["WaftNetwork"] = .boolean(true) }
        if rules.allowsSockets { keys["WaftSockets"] = .boolean(true) }
        if !rules.environment.isEmpty { keys["WaftEnvironment"] = .texts(rules.environment) }
        self = .dictionary(keys)
    }

    private static func texts(_ texts: [String]) -> PropertyList { .array(texts.map { .string($0) }) }
}
