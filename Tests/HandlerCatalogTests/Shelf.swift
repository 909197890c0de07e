import Foundation
import HandlerCatalog
import Sharing
import TestSupport
import UniformTypes

/// The three folders of handlers and the user's choices, in a temporary folder.
final class Shelf: Sendable {
    let folder = TemporaryFolder()

    init() {
        for path in [user, machine, distribution, folder / "config"] {
            try? FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        }
    }

    var user: String { folder / "user/handlers" }
    var machine: String { folder / "etc/handlers" }
    var distribution: String { folder / "usr/handlers" }
    var choices: String { folder / "config/handlers.json" }
    var inbox: String { folder / "home/Documents/Inbox" }
    var launches: FirstLaunches { FirstLaunches(path: folder / "state/first-launches.json") }

    func catalog(
        rule: EligibilityRule = .everything,
        device: String? = nil,
        hook: ConfiguredHook? = nil
    ) -> HandlerCatalog {
        HandlerCatalog(
            folders: HandlerFolders(user: user, machine: machine, distribution: distribution),
            choicesPath: choices,
            home: "/home/somebody",
            device: device,
            rule: rule,
            hook: hook,
            closed: ClosedPaths(
                [
                    ClosedPaths.ClosedPath(folder / "config", "the folder of Waft's configuration"),
                    ClosedPaths.ClosedPath(folder / "state", "the folder of Waft's state"),
                ], inbox: inbox),
            firstLaunches: launches
        )
    }

    /// The minimum keys of a bundle.
    static func keys(_ identifier: String, _ more: [String: Any] = [:]) -> [String: Any] {
        ["CFBundleIdentifier": identifier, "CFBundleExecutable": "run"].merging(more) { _, more in more }
    }

    /// Keys of a bundle that opens types.
    static func opening(_ identifier: String, _ types: String..., rank: String? = nil) -> [String: Any] {
        var entry: [String: Any] = ["LSItemContentTypes": types]
        if let rank { entry["LSHandlerRank"] = rank }
        return keys(identifier, ["CFBundleDocumentTypes": [entry]])
    }

    /// Writes a bundle and returns its path.
    @discardableResult
    func write(
        _ name: String,
        _ keys: [String: Any],
        in place: String? = nil,
        format: PropertyListSerialization.PropertyListFormat = .xml
    ) throws -> String {
        let info = try PropertyListSerialization.data(fromPropertyList: keys, format: format, options: 0)
        return try write(name, info: info, in: place)
    }

    @discardableResult
    func write(_ name: String, info: Data?, in place: String? = nil) throws -> String {
        let path = (place ?? user) + "/" + name + ".handler"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        Self.writeProgram(path + "/run")
        if let info { try info.write(to: URL(fileURLWithPath: path + "/Info.plist")) }
        chmod(path + "/Info.plist", 0o644)
        return path
    }

    static func writeProgram(_ path: String, _ text: String = "#!/bin/sh\n", mode: mode_t = 0o755) {
        let isWritten = FileManager.default.createFile(atPath: path, contents: Data(text.utf8))
        precondition(isWritten, "\(path) cannot be written")
        chmod(path, mode)
    }
}

extension CatalogSnapshot {
    var identifiers: [String] { bundles.map(\.identifier.text) }

    func reasons(_ severity: HandlerProblem.Severity) -> [String] {
        problems.filter { $0.severity == severity }.map(\.reason)
    }
}

extension HandlerBundle {
    /// A bundle that is not on the disk.
    static func sample(
        _ name: String,
        _ types: [String] = [],
        rank: HandlerRank = .default,
        role: HandlerRole = .viewer,
        installed: Int64 = 0,
        schemes: [String] = [],
        exporting: [TypeDeclaration] = [],
        importing: [TypeDeclaration] = [],
        documentTypes: [DocumentType] = []
    ) throws -> HandlerBundle {
        let identifier = BundleIdentifier("org.example.\(name)")
        guard let identifier else { throw SampleError() }
        let contents = DocumentType.Contents.types(types.compactMap { UniformType($0) })
        let own = types.isEmpty ? [] : [DocumentType(contents: contents, rank: rank, role: role)]
        return HandlerBundle(
            identifier: identifier,
            name: name,
            path: "/handlers/\(name).handler",
            origin: .user,
            installed: Timestamp(seconds: installed, nanoseconds: 0),
            executable: "/handlers/\(name).handler/run",
            documentTypes: own + documentTypes,
            urlTypes: schemes.isEmpty ? [] : [URLType(schemes: schemes.compactMap { URLScheme($0) }, role: role)],
            exportedTypes: exporting,
            importedTypes: importing
        )
    }
}

struct SampleError: Error {}

func type(_ text: String) throws -> UniformType {
    guard let type = UniformType(text) else { throw SampleError() }
    return type
}

func identifier(_ name: String) throws -> BundleIdentifier {
    guard let identifier = BundleIdentifier("org.example.\(name)") else { throw SampleError() }
    return identifier
}

/// A reproducible source of randomness (SplitMix64).
struct Seeded: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
