import Foundation
package import HandlerCatalog
package import HookSandbox

/// A program that gets arrivals: the program of a handler's bundle, or the one hook of the configuration.
package struct HandlerProgram: Hashable, Sendable {
    /// The identifier of the configuration's own hook.
    package static let hookIdentifier = "org.waft.hook"

    /// `CFBundleIdentifier`, or `hookIdentifier`.
    package var identifier: String
    /// `CFBundleVersion`; empty if there is none.
    package var version: String
    package var name: String
    /// Absolute path.
    package var executable: String
    /// Absolute path of its working folder.
    package var folder: String
    /// Absolute path of the program's own files, which it can read: the folder of its bundle, or one file.
    package var bundle: String
    /// Absolute path of its data folder, where it may write and which outlives the call: `WAFT_DATA`. The runner makes
    /// it. Nil for a program that may write only in its temporary folder.
    package var dataFolder: String?
    package var mode: LaunchRules.Mode
    /// Whether it is started with the receiver and stays when nothing arrives: a resident handler.
    package var keepsRunning: Bool
    /// Whether it takes a sealed item that is too large for a clear copy as a stream.
    package var takesStreams: Bool
    /// The questions that it gets before the first URL.
    package var calls: Set<LaunchRules.Call>
    /// The notices that it gets.
    package var notices: Set<LaunchRules.Notice>
    /// Time limit of a call, more than 0.
    package var timeLimit: Duration
    package var sandbox: SandboxPlan.Level
    /// Further absolute paths that it may read.
    package var readablePaths: [String]
    /// Further absolute paths where it may write.
    package var writablePaths: [String]
    /// Absolute paths of folders with files that were made for its call alone, in any place.
    package var copyFolders: [String] = []
    /// A fault of its bundle's executable, which stays until the bundle is read again.
    private(set) var fault: String?
    /// Whether it may use the network.
    package var allowsNetwork: Bool
    /// Whether it may connect to Unix sockets.
    package var allowsSockets: Bool
    /// The variables of this process's environment that it gets.
    package var variables: ProgramVariables
    /// The values of its settings, by their keys: the user's and the defaults. Empty if it has no settings.
    package var settings: [String: HandlerSettingValue]

    /// - Parameters: as the properties say; `bundle` defaults to `folder`, and `variables` to those of its rights.
    package init(
        identifier: String,
        version: String = "",
        name: String,
        executable: String,
        folder: String,
        bundle: String? = nil,
        dataFolder: String?,
        mode: LaunchRules.Mode = .perItem,
        keepsRunning: Bool = false,
        takesStreams: Bool = false,
        calls: Set<LaunchRules.Call> = [],
        notices: Set<LaunchRules.Notice> = [],
        timeLimit: Duration,
        sandbox: SandboxPlan.Level,
        readablePaths: [String] = [],
        writablePaths: [String] = [],
        allowsNetwork: Bool = false,
        allowsSockets: Bool = false,
        variables: ProgramVariables? = nil,
        settings: [String: HandlerSettingValue] = [:]
    ) {
        self.identifier = identifier
        self.version = version
        self.name = name
        self.executable = executable
        self.folder = folder
        self.bundle = bundle ?? folder
        self.dataFolder = dataFolder
        self.mode = mode
        self.keepsRunning = keepsRunning
        self.takesStreams = takesStreams
        self.calls = calls
        self.notices = notices
        self.timeLimit = timeLimit
        self.sandbox = sandbox
        self.readablePaths = readablePaths
        self.writablePaths = writablePaths
        self.allowsNetwork = allowsNetwork
        self.allowsSockets = allowsSockets
        self.variables = variables ?? ProgramVariables(includesSession: sandbox == .none || allowsSockets)
        self.settings = settings
    }

    /// The program of a bundle.
    ///
    /// - Parameters:
    ///   - defaultTimeLimit: for a bundle without a time limit.
    ///   - requiresSandbox: whether a bundle that does not ask for `none` may not run on a system without Landlock.
    /// - Returns: nil for a built-in handler, which has no program.
    package init?(bundle: HandlerBundle, defaultTimeLimit: Duration, requiresSandbox: Bool) {
        guard let executable = bundle.executable else { return nil }
        let sandbox: SandboxPlan.Level =
            switch bundle.launch.sandbox {
            case .strict: requiresSandbox ? .require : .strict
            case .none: .none
            }
        self.init(
            identifier: bundle.identifier.text,
            version: bundle.version,
            name: bundle.name,
            executable: executable,
            folder: bundle.path,
            dataFolder: bundle.dataFolder,
            mode: bundle.launch.mode,
            keepsRunning: bundle.launch.keepsRunning,
            takesStreams: bundle.launch.takesStreams,
            calls: bundle.launch.calls,
            notices: bundle.launch.notices,
            timeLimit: bundle.launch.timeout ?? defaultTimeLimit,
            sandbox: sandbox,
            readablePaths: bundle.launch.readablePaths,
            writablePaths: bundle.launch.writablePaths,
            allowsNetwork: bundle.launch.allowsNetwork,
            allowsSockets: bundle.launch.allowsSockets,
            variables: ProgramVariables(bundle.launch),
            settings: bundle.settings.values
        )
        fault = bundle.programFault.map { "\(executable) \($0)" }
    }

    /// The hook of the configuration, which may be missing: see `absence`.
    ///
    /// - Parameters:
    ///   - path: of the executable; a relative one is taken from the working directory.
    ///   - dataFolder: a folder of its own, not the executable's folder, in which it starts; nil for none.
    ///   - rules: the paths, network and Unix sockets that it may use; the other rules are ignored.
    package static func hook(
        path: String,
        dataFolder: String?,
        timeLimit: Duration,
        sandbox: SandboxPlan.Level,
        rules: LaunchRules = LaunchRules()
    ) -> HandlerProgram {
        configured(
            hookIdentifier, name: "hook", path: path, dataFolder: dataFolder, timeLimit: timeLimit, sandbox: sandbox,
            rules: rules)
    }

    /// A program of the configuration, which may be missing: see `absence`.
    ///
    /// - Parameters: as of `hook`; `name` is its name in messages.
    static func configured(
        _ identifier: String,
        name: String,
        path: String,
        dataFolder: String? = nil,
        timeLimit: Duration,
        sandbox: SandboxPlan.Level,
        rules: LaunchRules
    ) -> HandlerProgram {
        let absolute = absolutePath(path)
        return HandlerProgram(
            identifier: identifier,
            name: name,
            executable: absolute,
            folder: URL(fileURLWithPath: absolute).deletingLastPathComponent().path,
            bundle: absolute,
            dataFolder: dataFolder,
            timeLimit: timeLimit,
            sandbox: sandbox,
            readablePaths: rules.readablePaths,
            writablePaths: rules.writablePaths,
            allowsNetwork: rules.allowsNetwork,
            allowsSockets: rules.allowsSockets,
            variables: ProgramVariables(
                includesSession: sandbox == .none || rules.allowsSockets, named: rules.environment)
        )
    }

    /// - Parameter path: of a program of the configuration; a relative one is taken from the working directory.
    static func absolutePath(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }

    /// Whether it is the same program, perhaps with other values of its settings.
    func isSame(as other: HandlerProgram) -> Bool {
        var other = other
        other.settings = settings
        return self == other
    }

    /// Whether it is a bundle, not a single file.
    var isBundle: Bool { bundle == folder }

    /// Whether it is the configuration's own hook, and not a bundle's.
    package var isConfiguredHook: Bool { identifier == Self.hookIdentifier }
}
