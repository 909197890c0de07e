import Glibc
import Sharing
import SystemCalls
import UniformTypes

/// The program in the configuration (`hook:`): a handler without a bundle, for items that no installed one opens.
package struct ConfiguredHook: Hashable, Sendable {
    /// Absolute path of the program.
    package let path: String
    package let launch: LaunchRules

    package init(path: String, launch: LaunchRules) {
        self.path = path
        self.launch = launch
    }

    /// The result of reading the hook.
    struct Reading {
        /// Nil if the program cannot be run.
        var bundle: HandlerBundle?
        var problem: HandlerProblem?
    }

    /// - Parameter dataFolder: absolute path of the folder where the hook may write.
    func read(dataFolder: String, closed: ClosedPaths) -> Reading {
        var status = stat()
        guard stat(path, &status) == 0 else {
            return unusable(errno == ENOENT ? "is missing" : "cannot be looked at: \(SystemError.last)")
        }
        guard status.st_mode & S_IFMT == S_IFREG else { return unusable("is not a regular file") }
        guard faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0 else {
            return unusable("is not executable; chmod +x may be missing")
        }
        if let (key, reason) = launch.trouble(closed) {
            return unusable("cannot be started: \(key.setting): \(reason)")
        }
        let isOpen = status.st_mode & S_IWOTH != 0
        let warning = "everyone may write to it, so anyone could have programs run as you; chmod o-w may be missing"
        return Reading(bundle: bundle(dataFolder), problem: isOpen ? problem(.warning, warning) : nil)
    }

    private func unusable(_ reason: String) -> Reading {
        Reading(bundle: nil, problem: problem(.unusable, "the hook of the configuration \(reason)"))
    }

    private func problem(_ severity: HandlerProblem.Severity, _ reason: String) -> HandlerProblem {
        HandlerProblem(
            path: path, name: HandlerBundle.hookName, identifier: .hook, severity: severity, reason: reason)
    }

    private func bundle(_ dataFolder: String) -> HandlerBundle {
        HandlerBundle(
            identifier: .hook,
            name: HandlerBundle.hookName,
            path: Paths.folder(of: path),
            dataFolder: dataFolder,
            origin: .configuration,
            installed: Timestamp(seconds: 0, nanoseconds: 0),
            executable: path,
            documentTypes: [DocumentType(name: "Anything", contents: .types([.item]), rank: .alternate)],
            launch: launch
        )
    }
}
