import Foundation
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
                let quoted = program.path.replacing("'", with: "'\\''")
                try SmallFile.write(Array("#!/bin/sh\nexec '\(quoted)' \"$@\"\n".utf8), to: file)
            }
        }
        try systemCall { chmod(folder, 0o755) }
        try SmallFile.syncFolder(folder)
    }

    private func writeInfo(to path: String, executable: String) throws(SystemError) {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .xml
        guard let info = try? encoder.encode(InfoPropertyList(recipe, identifier, executable: executable)) else {
            throw SystemError(EINVAL)
        }
        try Self.writeFile(path, mode: 0o644) { file throws(SystemError) in
            try SmallFile.write(Array(info), to: file)
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

/// The `Info.plist` of a new bundle. Uses an encoder: `PropertyListSerialization` refuses every dictionary in a program
/// into which Foundation is linked statically (Swift 6.3).
private struct InfoPropertyList: Encodable {
    private struct Documents: Encodable {
        var name: String
        var types: [String]
        var role = "Viewer"

        enum CodingKeys: String, CodingKey {
            case name = "CFBundleTypeName"
            case types = "LSItemContentTypes"
            case role = "CFBundleTypeRole"
        }
    }

    private struct URLs: Encodable {
        var name: String
        var schemes: [String]

        enum CodingKeys: String, CodingKey {
            case name = "CFBundleURLName"
            case schemes = "CFBundleURLSchemes"
        }
    }

    private var identifier: String
    private var name: String
    private var executable: String
    private var documents: [Documents]?
    private var urls: [URLs]?
    private var readablePaths: [String]?
    private var writablePaths: [String]?
    private var network: Bool?
    private var sockets: Bool?

    private enum CodingKeys: String, CodingKey {
        case identifier = "CFBundleIdentifier"
        case name = "CFBundleName"
        case executable = "CFBundleExecutable"
        case documents = "CFBundleDocumentTypes"
        case urls = "CFBundleURLTypes"
        case readablePaths = "WaftReadablePaths"
        case writablePaths = "WaftWritablePaths"
        case network = "WaftNetwork"
        case sockets = "WaftSockets"
    }

    init(_ recipe: CheckedRecipe, _ identifier: BundleIdentifier, executable: String) {
        self.identifier = identifier.text
        name = recipe.name.text
        self.executable = executable
        if !recipe.types.isEmpty {
            documents = [Documents(name: recipe.name.text, types: recipe.types.map(\.identifier))]
        }
        if !recipe.schemes.isEmpty {
            urls = [URLs(name: identifier.text, schemes: recipe.schemes.map(\.text))]
        }
        let rules = recipe.rules
        if !rules.readablePaths.isEmpty { readablePaths = rules.readablePaths }
        if !rules.writablePaths.isEmpty { writablePaths = rules.writablePaths }
        if rules.allowsNetwork { network = true }
        if rules.allowsSockets { sockets = true }
    }
}
