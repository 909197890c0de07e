import Foundation
package import HandlerCatalog
package import HookSandbox

/// A program that is told of arrivals: that of a handler's bundle, or the one hook of the configuration.
package struct HandlerProgram: Hashable, Sendable {
    /// What is wrong with the file that is to be the hook.
    package struct Unfit: Error, Hashable, CustomStringConvertible {
        /// One line, lower case.
        package let description: String
    }

    /// The identifier of the configuration's own hook.
    package static let hookIdentifier = "org.waft.hook"

    /// `CFBundleIdentifier`, or `hookIdentifier`.
    package var identifier: String
    package var name: String
    /// Absolute path.
    package var executable: String
    /// Absolute path of the folder in which it is started.
    package var folder: String
    /// Absolute path of the folder of its own, where it may write.
    package var dataFolder: String
    package var mode: LaunchRules.Mode
    /// What it wants to be asked before the first URL.
    package var calls: Set<LaunchRules.Call>
    /// After how long a call is ended, more than 0.
    package var timeLimit: Duration
    package var sandbox: SandboxPlan.Level
    /// Absolute paths where it may write besides.
    package var writablePaths: [String]

    /// - Parameters: as the properties say.
    package init(
        identifier: String,
        name: String,
        executable: String,
        folder: String,
        dataFolder: String,
        mode: LaunchRules.Mode = .perItem,
        calls: Set<LaunchRules.Call> = [],
        timeLimit: Duration,
        sandbox: SandboxPlan.Level,
        writablePaths: [String] = []
    ) {
        self.identifier = identifier
        self.name = name
        self.executable = executable
        self.folder = folder
        self.dataFolder = dataFolder
        self.mode = mode
        self.calls = calls
        self.timeLimit = timeLimit
        self.sandbox = sandbox
        self.writablePaths = writablePaths
    }

    /// The program of a bundle.
    ///
    /// - Parameters:
    ///   - defaultTimeLimit: where the bundle says nothing.
    ///   - requiresSandbox: whether a bundle that does not ask for `none` may not run where there is no Landlock.
    /// - Returns: nil for what is built in, which has nothing to run.
    package init?(bundle: HandlerBundle, defaultTimeLimit: Duration, requiresSandbox: Bool) {
        guard let executable = bundle.executable else { return nil }
        let sandbox: SandboxPlan.Level =
            switch bundle.launch.sandbox {
            case .strict: requiresSandbox ? .require : .strict
            case .none: .none
            }
        self.init(
            identifier: bundle.identifier.text,
            name: bundle.name,
            executable: executable,
            folder: bundle.path,
            dataFolder: bundle.path,
            mode: bundle.launch.mode,
            calls: bundle.launch.calls,
            timeLimit: bundle.launch.timeout ?? defaultTimeLimit,
            sandbox: sandbox,
            writablePaths: bundle.launch.writablePaths
        )
    }

    /// The hook of the configuration.
    ///
    /// - Parameters:
    ///   - path: of the executable; a relative one is taken from the working directory.
    ///   - dataFolder: a folder of its own, made by the runner where it is missing. Not the executable's folder, which
    ///     is started in: that may be the home folder, and a folder around the Inbox cannot be writable.
    /// - Throws: `Unfit` when there is no executable regular file at the path.
    package static func hook(
        path: String,
        dataFolder: String,
        timeLimit: Duration,
        sandbox: SandboxPlan.Level,
        writablePaths: [String] = []
    ) throws(Unfit) -> HandlerProgram {
        let absolute = URL(fileURLWithPath: path).standardizedFileURL.path
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: absolute, isDirectory: &isFolder) else {
            throw Unfit(description: "the hook \(absolute) does not exist")
        }
        guard !isFolder.boolValue, FileManager.default.isExecutableFile(atPath: absolute) else {
            throw Unfit(description: "the hook \(absolute) is not an executable file; chmod +x may be missing")
        }
        return HandlerProgram(
            identifier: hookIdentifier,
            name: "hook",
            executable: absolute,
            folder: URL(fileURLWithPath: absolute).deletingLastPathComponent().path,
            dataFolder: dataFolder,
            timeLimit: timeLimit,
            sandbox: sandbox,
            writablePaths: writablePaths
        )
    }

    /// Whether it is the configuration's own hook, and not a bundle's.
    package var isConfiguredHook: Bool { identifier == Self.hookIdentifier }
}
