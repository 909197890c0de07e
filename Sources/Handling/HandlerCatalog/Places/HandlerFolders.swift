import CLinuxShims
import Glibc
import SystemCalls

/// The folders that contain bundles.
package struct HandlerFolders: Hashable, Sendable {
    /// The user's own folder: the only one of the three in which Waft makes and removes bundles. Absolute.
    package let user: String
    /// Contains a data folder for each handler, named after its identifier; it outlives the bundle. Absolute.
    package let data: String
    /// The folder for all users of this machine. Absolute.
    package let machine: String
    /// The folder for bundles of packages. Absolute.
    package let distribution: String

    /// - Parameter data: nil for `handler-data` beside the user's own folder.
    package init(
        user: String,
        data: String? = nil,
        machine: String = "/etc/waft/handlers",
        distribution: String = "/usr/share/waft/handlers"
    ) {
        self.user = user
        self.data = data ?? Paths.folder(of: user) + "/handler-data"
        self.machine = machine
        self.distribution = distribution
    }

    /// Name of the folder with the data of the hook of the configuration.
    static let hookDataName = "hook"

    /// Absolute path of the folder where a handler may write.
    package func data(of identifier: BundleIdentifier) -> String {
        data + "/" + (identifier == .hook ? Self.hookDataName : identifier.text)
    }

    /// Each with the origin of its bundles, in order of precedence.
    var all: [(path: String, origin: HandlerOrigin)] {
        [(user, .user), (machine, .machine), (distribution, .distribution)]
    }

    /// The folders with names of bundles in one of them, sorted. Skips hidden folders: they are still being made.
    ///
    /// A missing folder has none. A file with such a name is included: reading it later reports that it is no bundle.
    static func bundles(in path: String, _ origin: HandlerOrigin) -> (folders: [BundleFolder], problems: [String]) {
        guard let stream = opendir(path) else {
            let isMissing = errno == ENOENT || errno == ENOTDIR && !Paths.isThere(path)
            return ([], isMissing ? [] : ["it cannot be read: \(SystemError.last)"])
        }
        defer { closedir(stream) }
        var names: [String] = []
        var problems: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno != 0 { problems.append("it cannot be read to its end: \(SystemError.last)") }
                break
            }
            guard let raw = CLinuxShims_dirent_name(entry) else { continue }
            guard raw[0] != CChar(UInt8(ascii: ".")) else { continue }
            guard let name = String(validatingCString: raw) else {
                problems.append("there is a name in it that is not UTF-8")
                continue
            }
            if name.hasSuffix(BundleFolder.suffix) { names.append(name) }
        }
        names.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        if names.count > CatalogLimits.bundlesInFolder {
            problems.append("there are more than \(CatalogLimits.bundlesInFolder) bundles in it; the rest is left out")
        }
        let folders = names.prefix(CatalogLimits.bundlesInFolder).map { name in
            BundleFolder(path: path + "/" + name, origin: origin)
        }
        return (folders, problems)
    }
}
