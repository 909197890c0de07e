/// What a hook may do, and what is to be executed under it: all that the launcher is told.
///
/// It travels in an environment variable of the launcher, which other processes of the same user can read: paths, never
/// secrets.
package struct SandboxPlan: Codable, Hashable, Sendable {
    /// How much the rules matter.
    package enum Level: String, Codable, Hashable, Sendable, CaseIterable {
        /// The rules, as far as the kernel has them; without Landlock the hook runs with the limits alone.
        case strict
        /// No rules and no limits: the hook is executed as it is, and processes that it leaves behind keep running.
        case none
        /// The rules, or the hook is not executed at all where the kernel has no Landlock.
        case require
    }

    /// Maximum number of folders and files that can be named as writable, and again as readable.
    package static let maximumPaths = 64
    /// Maximum number of places that stay closed.
    package static let maximumForbiddenPlaces = 64
    /// Most arguments of a hook.
    package static let mostArguments = 64
    /// Longest path, in bytes: `PATH_MAX` without its NUL.
    package static let longestPath = 4095
    /// Longest encoded plan, in bytes. The kernel takes 128 KiB in one variable.
    package static let longestEncoding = 98_304

    /// How much the rules matter.
    package var level: Level
    /// The file to execute, an absolute path.
    package var executable: String
    /// What follows the executable's own path in its arguments.
    package var arguments: [String]
    /// The program's own place, which it may read and execute but not change: the folder of its bundle or, for a single
    /// program, the executable file alone and not its folder.
    package var bundle: String
    /// The handler's data folder, which outlives the call and where it may write. The caller makes it.
    package var dataFolder: String
    /// A folder made for the hook alone, where it may write; its `TMPDIR`. The caller makes and removes it.
    package var temporaryFolder: String
    /// The Inbox: what is in it can be read, moved out and removed.
    package var inbox: String
    /// Other folders and files that the hook may read.
    package var readablePaths: [String]
    /// Other folders and files that the hook may read and write.
    package var writablePaths: [String]
    /// Whether the hook may use the network.
    package var allowsNetwork: Bool
    /// Whether the hook may connect to Unix sockets, and so to other programs of the user and the system.
    package var allowsSockets: Bool
    /// Folders and files that stay closed to every hook: Waft's configuration, state and control socket, and the
    /// folders of all handlers. A readable or writable path that equals, contains or is inside one of them is refused;
    /// the bundle, the data folder and the temporary folder may be inside one. Missing ones are ignored.
    package var forbiddenPlaces: [String]
    /// Process id of the launcher's parent, which asks for the hook; nil for any parent. The hook ends with it.
    package var client: Int32?
    /// What the hook may use up.
    package var limits: ResourceLimits
    /// The newest version of the Landlock ABI to use, 0 for none at all; `nil` for whatever the kernel has.
    package var newestABI: Int?

    /// - Parameters: as the properties say; all paths are absolute. Nothing is checked here: ``validate()`` does.
    package init(
        level: Level = .strict,
        executable: String,
        arguments: [String],
        bundle: String,
        dataFolder: String,
        temporaryFolder: String,
        inbox: String,
        readablePaths: [String] = [],
        writablePaths: [String] = [],
        allowsNetwork: Bool = false,
        allowsSockets: Bool = false,
        forbiddenPlaces: [String] = [],
        client: Int32? = nil,
        limits: ResourceLimits = ResourceLimits(),
        newestABI: Int? = nil
    ) {
        self.level = level
        self.executable = executable
        self.arguments = arguments
        self.bundle = bundle
        self.dataFolder = dataFolder
        self.temporaryFolder = temporaryFolder
        self.inbox = inbox
        self.readablePaths = readablePaths
        self.writablePaths = writablePaths
        self.allowsNetwork = allowsNetwork
        self.allowsSockets = allowsSockets
        self.forbiddenPlaces = forbiddenPlaces
        self.client = client
        self.limits = limits
        self.newestABI = newestABI
    }

    /// Checks every count, length and path.
    ///
    /// - Throws: `SandboxError` for the first that cannot be used.
    package func validate() throws(SandboxError) {
        for (kind, paths) in [("readable", readablePaths), ("writable", writablePaths)] {
            guard paths.count <= Self.maximumPaths else {
                throw .invalidPlan("more than \(Self.maximumPaths) \(kind) paths")
            }
        }
        guard forbiddenPlaces.count <= Self.maximumForbiddenPlaces else {
            throw .invalidPlan("more than \(Self.maximumForbiddenPlaces) forbidden places")
        }
        guard arguments.count <= Self.mostArguments else {
            throw .invalidPlan("more than \(Self.mostArguments) arguments")
        }
        let paths =
            [executable, bundle, dataFolder, temporaryFolder, inbox] + readablePaths + writablePaths + forbiddenPlaces
        for path in paths {
            guard path.utf8.first == UInt8(ascii: "/") else { throw .invalidPlan("\(path) is not an absolute path") }
            guard path.utf8.count <= Self.longestPath else { throw .invalidPlan("a path is too long") }
        }
        for text in paths + arguments {
            guard !text.utf8.contains(0) else { throw .invalidPlan("a path or an argument contains NUL") }
        }
    }
}

/// What a hook may use up. The number of processes is left alone: the kernel counts it for the user, not the hook.
package struct ResourceLimits: Codable, Hashable, Sendable {
    /// Largest core file, in bytes. 0: a crash of a hook leaves no copy of its memory on the disk.
    package var coreBytes: UInt64
    /// Descriptors that the hook can have open to begin with. Programs that use select(2) break above 1,024.
    package var openFiles: UInt64
    /// Descriptors to which the hook can raise its own limit.
    package var mostOpenFiles: UInt64

    /// - Parameters: as the properties say. A limit that is lower already stays as it is.
    package init(coreBytes: UInt64 = 0, openFiles: UInt64 = 1024, mostOpenFiles: UInt64 = 16_384) {
        self.coreBytes = coreBytes
        self.openFiles = openFiles
        self.mostOpenFiles = mostOpenFiles
    }
}
